/** The record sets that the parent is to hold: as terraform/modules/delegation has them, in the same order and with the same TTL. */
import { isInZone, type NameServer, type Zone } from "#gtm/domain/zone.ts";
import { canonicalAddress } from "./server-address.ts";

export type RecordSet = {
  /** Without the dot at the end. */
  readonly name: string;
  readonly type: "NS" | "A" | "AAAA";
  readonly ttlSeconds: number;
  readonly values: readonly string[];
};

/** Seconds; `ttl` of the Terraform module, and its bounds. */
export const DELEGATION_TTL = { usual: 3_600, least: 60, most: 172_800 } as const;

type Delegated = Pick<Zone, "name" | "ns">;

/** Glue is of name servers inside the zone: one outside is found by what its own zone says. */
export const delegationRecords = (zone: Delegated, ttlSeconds: number = DELEGATION_TTL.usual): readonly RecordSet[] => {
  const servers = zone.ns.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names: RecordSet = { name: zone.name, type: "NS", ttlSeconds, values: servers.map(({ name }) => name) };
  return [names, ...servers.filter(({ name }) => isInZone(name, zone.name)).flatMap((one) => glueOf(one, ttlSeconds))];
};

const glueOf = (server: NameServer, ttlSeconds: number): readonly RecordSet[] =>
  (["A", "AAAA"] as const)
    .map((type) => ({ name: server.name, type, ttlSeconds, values: addressesOf(server, type) }))
    .filter(({ values }) => values.length > 0);

/** Sorted, each in its one spelling. */
export const addressesOf = ({ ipv4, ipv6 }: NameServer, type: "A" | "AAAA"): readonly string[] =>
  (type === "A" ? ipv4 : ipv6).map(canonicalAddress).toSorted();

/** Lines of a zone file (RFC 1035 §5), with names in full. */
export const zoneFileLines = (sets: readonly RecordSet[]): readonly string[] =>
  sets.flatMap(({ name, type, ttlSeconds, values }) =>
    values.map((value) => `${name}. ${ttlSeconds} IN ${type} ${value}${type === "NS" ? "." : ""}`),
  );
