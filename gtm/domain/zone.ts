/** The DNS domain that is delegated to us: its name servers, its SOA, and which names in it are ours to give away. */
import type { PoolName } from "#shared/ids.ts";
import type { ZoneRecord } from "./zone-record.ts";

export type NameServer = {
  /** Absolute, without the trailing dot; inside the zone its addresses are served as glue. */
  readonly name: string;
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
};

/** Identical on every GTM and never from a clock: resolvers and registries compare the servers of a zone. */
export type Soa = {
  /** The responsible person's mailbox as a name; a dot in the local part is written `\.` (RFC 1035 §5.1). */
  readonly rname: string;
  /** 0 to 2³²−1. */
  readonly serial: number;
  readonly refreshSeconds: number;
  readonly retrySeconds: number;
  readonly expireSeconds: number;
  /** How long a negative answer may be kept. */
  readonly minimumSeconds: number;
};

export type Zone = {
  /** Lower case, without the trailing dot. Its top is the apex. */
  readonly name: string;
  /** Two or more, on different addresses; the first is the SOA's mname. Stable, never steered. */
  readonly ns: readonly NameServer[];
  readonly soa: Soa;
  /** The pool whose regions the apex itself answers A and AAAA with; null: the apex has no addresses. */
  readonly apexPool: PoolName | null;
  /** What its owner keeps in it beside that. */
  readonly records: readonly ZoneRecord[];
};

/** What Zonemaster's Zone02 to Zone06 ask for, but for the minimum: a name that comes back must not stay away for long. */
export const SOA_TIMERS = {
  refreshSeconds: 14_400,
  retrySeconds: 3_600,
  expireSeconds: 604_800,
  minimumSeconds: 30,
} as const satisfies Partial<Soa>;

const RESERVED_LABELS: ReadonlySet<string> = new Set(["c", "m", "r", "front", "why"]);

/** Whether a pool of this name would hide one of the zone's own names. */
export const isReservedPoolName = (name: string): boolean => RESERVED_LABELS.has(name) || name.startsWith("ns");

/** @returns sentences for the person who wrote the configuration; empty when the zone can be delegated */
export const zoneFaults = (zone: Zone): readonly string[] => [
  ...nameFaults(zone.name, "the zone"),
  ...zone.ns.flatMap(({ name }) => nameFaults(name, "a name server")),
  ...zone.ns.flatMap((server) => glueFaults(server, zone.name)),
  ...serverFaults(zone.ns),
];

/** Whether a name is the zone's or lies below it. */
export const isInZone = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`);

/** RFC 1035 §2.3.4, and room for the labels of 63 octets that are put in front of the zone's name. */
const LONGEST_NAME = 180;
export const HOST_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

const nameFaults = (name: string, what: string): readonly string[] => {
  if (name.length > LONGEST_NAME) return [`${what}'s name has ${name.length} characters, at most ${LONGEST_NAME}`];
  return name.split(".").every((label) => HOST_LABEL.test(label))
    ? []
    : [`${what} is named "${name}": lower-case letters, digits and hyphens between dots, without a dot at the end`];
};

/** A name server inside the zone can only be found by the addresses that are given for it. */
const glueFaults = ({ name, ipv4, ipv6 }: NameServer, zone: string): readonly string[] =>
  isInZone(name, zone) && ipv4.length + ipv6.length === 0
    ? [`name server ${name} lies in the zone and has no address`]
    : [];

const serverFaults = (servers: readonly NameServer[]): readonly string[] => {
  const faults: string[] = [];
  if (servers.length < 2) faults.push(`a zone needs two name servers, found ${servers.length}`);
  const owners = new Map<string, string>();
  for (const { name, ipv4, ipv6 } of servers) {
    for (const address of [...ipv4, ...ipv6]) {
      const owner = owners.get(address);
      if (owner !== undefined) faults.push(`name servers ${owner} and ${name} share the address ${address}`);
      owners.set(address, name);
    }
  }
  if (new Set(servers.map(({ name }) => name)).size < servers.length) faults.push("two name servers share a name");
  // Resolvers without IPv6 would be left with one server, or none.
  const reachable = servers.filter(({ ipv4 }) => ipv4.length > 0);
  const known = servers.filter(({ ipv4, ipv6 }) => ipv4.length + ipv6.length > 0);
  if (known.length > 0 && reachable.length < known.length) {
    const lone = known.filter(({ ipv4 }) => ipv4.length === 0).map(({ name }) => name);
    faults.push(`${lone.join(", ")} has IPv6 addresses only`);
  }
  return faults;
};
