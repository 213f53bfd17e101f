/** What is wrong between the records of a zone: there twice, beside an alias, below a cut, pointing where they must not. */
import { isInZone } from "./zone.ts";
import { cutAbove, cutsOf, targetOf, type ZoneRecord } from "./zone-record.ts";
import { type OwnNames, zoneRecordFaults } from "./zone-record-faults.ts";

export type RecordFault = {
  /** Position among the records, 0 and up. */
  readonly at: number;
  readonly message: string;
};

type Placed = { readonly at: number; readonly record: ZoneRecord };

/** @returns in the order of the records; empty when the zone can be served */
export const zoneRecordsFaults = (own: OwnNames): readonly RecordFault[] => {
  const placed = own.zone.records.map((record, at): Placed => ({ at, record }));
  const byName = Map.groupBy(placed, ({ record }) => record.name);
  const bySet = Map.groupBy(placed, ({ record }) => `${record.name} ${record.value.type}`);
  const among: Among = { ...own, byName, cuts: cutsOf(own.zone.records) };
  const alone = placed.flatMap(({ at, record }) =>
    [
      ...zoneRecordFaults(record, own),
      ...aliasFaults(record, among),
      ...cutFaults(record, among),
      ...targetFaults(record, among),
    ].map((message): RecordFault => ({ at, message })),
  );
  return [...alone, ...[...bySet.values()].flatMap(setFaults)].toSorted((a, b) => a.at - b.at);
};

/** A message has at most 65 535 octets, and other things stand in it. */
const MOST_SET_OCTETS = 32_768;
/** Owner, type, class, TTL and length. */
const RECORD_OCTETS = 12;

/** Of the records of one name and type. */
const setFaults = (set: readonly Placed[]): readonly RecordFault[] => {
  const seen = new Set<string>();
  const ttlSeconds = set[0]?.record.ttlSeconds ?? 0;
  let octets = 0;
  return set.flatMap(({ at, record: { name, value, ttlSeconds: own } }) => {
    const faults: string[] = [];
    const text = JSON.stringify(value);
    if (seen.has(text)) faults.push(`${name} has this ${value.type} record already`);
    // RFC 2181 §5.2
    if (own !== ttlSeconds) {
      faults.push(`${name} has ${value.type} records with TTLs of ${ttlSeconds} s and ${own} s: make them one`);
    }
    // More than the record has on the wire, and not by much.
    const more = octets + RECORD_OCTETS + new TextEncoder().encode(text).length;
    if (octets <= MOST_SET_OCTETS && more > MOST_SET_OCTETS) {
      faults.push(`${name} has more than ${MOST_SET_OCTETS} octets of ${value.type} records`);
    }
    octets = more;
    seen.add(text);
    return faults.map((message) => ({ at, message }));
  });
};

type Among = OwnNames & {
  readonly byName: ReadonlyMap<string, readonly Placed[]>;
  readonly cuts: ReadonlySet<string>;
};

const typesAt = (name: string, { byName }: Among): readonly string[] =>
  (byName.get(name) ?? []).map(({ record }) => record.value.type);

const isAlias = (name: string, among: Among): boolean => typesAt(name, among).includes("CNAME");

/** RFC 1034 §3.6.2: an alias has no other data. */
const aliasFaults = ({ name, value }: ZoneRecord, among: Among): readonly string[] => {
  if (value.type !== "CNAME") return [];
  const isAlone = typesAt(name, among).length === 1;
  return [
    ...(isAlone ? [] : [`${name} is an alias and has other records: an alias stands alone`]),
    ...(leadsBack(name, among) ? [`${name} is an alias that leads back to itself`] : []),
  ];
};

const leadsBack = (name: string, among: Among): boolean => {
  const seen = new Set<string>();
  let next: string | null = name;
  while (next !== null && !seen.has(next)) {
    seen.add(next);
    const alias: Placed | undefined = among.byName.get(next)?.find(({ record }) => record.value.type === "CNAME");
    next = alias === undefined ? null : targetOf(alias.record.value);
    if (next === name) return true;
  }
  return false;
};

/** At a cut stands NS, below it the addresses of its name servers (glue): all else is the other server's to say. */
const cutFaults = ({ name, value }: ZoneRecord, among: Among): readonly string[] => {
  const cut = among.cuts.has(name) ? name : cutAbove(name, among.cuts);
  if (cut === null || (name === cut && value.type === "NS")) return [];
  const isGlue = (value.type === "A" || value.type === "AAAA") && hostsOf(cut, among).includes(name);
  return isGlue ? [] : [`${name} is given away by ${cut} NS: only addresses of ${cut}'s name servers may stand there`];
};

const hostsOf = (cut: string, { byName }: Among): readonly string[] =>
  (byName.get(cut) ?? []).flatMap(({ record: { value } }) => (value.type === "NS" ? [value.host] : []));

/** RFC 2181 §10.3: what NS, MX and SRV name is no alias. A name server must be found, and by everybody alike. */
const targetFaults = ({ name, value }: ZoneRecord, among: Among): readonly string[] => {
  const target = targetOf(value);
  if (target === null || value.type === "CNAME" || !isInZone(target, among.zone.name)) return [];
  if (isAlias(target, among)) return [`${name} ${value.type} points to ${target}, which is an alias`];
  return value.type !== "NS" || hasAddress(target, among)
    ? []
    : [`${name} NS names ${target}, which lies in the zone: give it an A or AAAA record`];
};

const hasAddress = (name: string, among: Among): boolean =>
  among.zone.ns.some((server) => server.name === name) ||
  typesAt(name, among).some((type) => type === "A" || type === "AAAA");
