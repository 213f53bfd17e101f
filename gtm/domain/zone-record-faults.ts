/** What is wrong with a record by itself: its names, its TTL, its data, and where it stands. */
import { HOST_LABEL, isInZone, type Zone } from "./zone.ts";
import { targetOf, type ZoneRecord } from "./zone-record.ts";

/** What the GTM makes of itself: `zone` and the names of its pools. */
export type OwnNames = {
  readonly zone: Zone;
  readonly pools: readonly string[];
};

/** RFC 1035 §2.3.4, without the length octet in front and the root's behind. */
const LONGEST_NAME = 253;
/** A week: resolvers keep nothing for longer. */
const LONGEST_TTL_SECONDS = 604_800;
/** What may stand beside the addresses that the GTM answers itself. */
const BESIDE_OURS: ReadonlySet<string> = new Set(["TXT", "MX", "CAA", "SRV"]);

/** @returns sentences for the person who wrote it; empty when it can be served */
export const zoneRecordFaults = (record: ZoneRecord, own: OwnNames): readonly string[] => {
  const names = nameFaults(record, own.zone.name);
  return names.length > 0 ? names : [...ttlFaults(record), ...wildcardFaults(record), ...placeFaults(record, own)];
};

const nameFaults = ({ name, value }: ZoneRecord, zone: string): readonly string[] => {
  const target = targetOf(value);
  const mayBeRoot = value.type === "MX" || value.type === "SRV";
  if (!isName(name.replace(/^\*\./, ""), name.length)) return [`"${name}" is no name: ${NAME_RULE}`];
  if (!isInZone(name, zone)) return [`${name} lies outside the zone ${zone}: write the name whole`];
  if (target === null || (target === "." && mayBeRoot) || isName(target, target.length)) return [];
  return [`${name} points to "${target}", which is no name: ${NAME_RULE}`];
};

const NAME_RULE = "lower-case letters, digits, hyphens and underscores between dots, without a dot at the end";

const isName = (name: string, length: number): boolean =>
  length <= LONGEST_NAME && name.split(".").every((label) => HOST_LABEL.test(label));

const ttlFaults = ({ name, ttlSeconds }: ZoneRecord): readonly string[] =>
  Number.isInteger(ttlSeconds) && ttlSeconds >= 0 && ttlSeconds <= LONGEST_TTL_SECONDS
    ? []
    : [`${name} has a TTL of ${ttlSeconds} s: whole seconds, at most ${LONGEST_TTL_SECONDS} (a week)`];

/** RFC 4592 §4.2 leaves open what a wildcard that is given away would mean. */
const wildcardFaults = ({ name, value }: ZoneRecord): readonly string[] =>
  name.startsWith("*.") && value.type === "NS" ? [`${name} cannot be given away: a wildcard has no NS`] : [];

const placeFaults = ({ name, value }: ZoneRecord, { zone, pools }: OwnNames): readonly string[] => {
  if (name.startsWith("why.")) return [`${name} begins with "why", by which decisions are asked for`];
  if (isBelow(name, `c.${zone.name}`) && !isBesideLabels(name, zone.name)) {
    return [`${name} would hide a conversation's label: below c.${zone.name} only _names may stand`];
  }
  if (BESIDE_OURS.has(value.type)) return [];
  if (name === zone.name && value.type === "CNAME") return [`${name} is the zone's top, which cannot be an alias`];
  const owner = ownerOf(name, zone, pools);
  if (owner !== null) return [`${name} is ${owner}: ${value.type} cannot stand there`];
  return value.type === "NS" && zone.ns.some((server) => isBelow(server.name, name))
    ? [`${name} cannot be given away: a name server of the zone itself lies below it`]
    : [];
};

const isBelow = (name: string, parent: string): boolean => name !== parent && isInZone(name, parent);

const isBesideLabels = (name: string, zone: string): boolean =>
  name.slice(0, -`.c.${zone}`.length).split(".").at(-1)?.startsWith("_") === true;

/** @returns what the GTM makes of the name; null: nothing */
const ownerOf = (name: string, zone: Zone, pools: readonly string[]): string | null => {
  if (name === zone.name) return "the zone's top, whose name servers and addresses are set elsewhere";
  if (zone.ns.some((server) => server.name === name)) return "a name server, whose addresses stand in dns.ns";
  if (pools.some((pool) => name === `${pool}.${zone.name}`)) return "a pool's name, which is steered";
  const parent = ["c", "m", "r", "front"].find((label) => isInZone(name, `${label}.${zone.name}`));
  return parent === undefined ? null : `among the names that the GTM makes in ${parent}.${zone.name}`;
};
