/** Every name of the zone that is known beforehand, with its answers encoded; the rest are labels, `why` and nothing. */
import type { Zone } from "#gtm/domain/zone.ts";
import { targetOf } from "#gtm/domain/zone-record.ts";
import { aliasOf, type Chain, chainOf } from "./alias-chain.ts";
import { type DnsRecord, encodeImage } from "./codec.ts";
import type { Image } from "./image.ts";
import type { RecordData } from "./record-data.ts";
import { RCODE, TYPE } from "./record-type.ts";
import type { SteeredName } from "./steered-name.ts";
import type { TimedData, ZoneEntries, ZoneEntry } from "./zone-entries.ts";

export type ZoneName = {
  /** By record type. */
  readonly fixed: ReadonlyMap<number, Image>;
  /** What every other type is answered with; null: the name has no records of it. */
  readonly other: Image | null;
  readonly steered: SteeredName | null;
  /** The name is given to another server: `other` refers to it. */
  readonly isCut: boolean;
  /** What names below it are that are not in the table: a wildcard's, or the cut itself; null: they are not there. */
  readonly below: ZoneName | null;
};

/**
 * @param negativeSoa what tells how long a no may be kept
 * @returns by name, without the trailing dot
 */
export const zoneNames = (zone: Zone, entries: ZoneEntries, negativeSoa: DnsRecord): ReadonlyMap<string, ZoneName> => {
  const nodata = encodeImage({ ...NO_RECORDS, authority: [negativeSoa] });
  const made = (name: string, entry: ZoneEntry): ZoneName => {
    if (entries.cuts.has(name)) return cutName(name, entry, { entries, nodata });
    const alias = aliasOf(entry);
    return alias === null ? plainName(entry, entries) : aliasName(alias, zone.name, { entries, negativeSoa });
  };
  const names = new Map([...entries.byName].map(([name, entry]) => [name, made(name, entry)]));
  return new Map([...names].map(([name, one]) => [name, { ...one, below: below(name, one, names) }]));
};

const below = (name: string, one: ZoneName, names: ReadonlyMap<string, ZoneName>): ZoneName | null =>
  // The server below says what of it is there: DS of a name below the cut is its to say, too.
  one.isCut ? { ...one, fixed: new Map() } : (names.get(`*.${name}`) ?? null);

const NO_RECORDS = {
  rcode: RCODE.NOERROR,
  isAuthoritative: true,
  error: null,
  answers: [],
  authority: [],
  additional: [],
} as const;

/** RFC 8482 §4.2: ANY is answered with next to nothing, so that nobody can aim it at others. */
export const ANY_ANSWER: Image = encodeImage({
  ...NO_RECORDS,
  answers: [{ owner: "question", ttlSeconds: 3_600, data: { type: "HINFO", cpu: "RFC8482", os: "" } }],
});

const plainName = ({ records, steered }: ZoneEntry, entries: ZoneEntries): ZoneName => {
  const fixed = new Map<number, Image>();
  for (const [type, set] of bySet(records)) {
    const answers = set.map((one): DnsRecord => ({ owner: "question", ...one }));
    fixed.set(TYPE[type], encodeImage({ ...NO_RECORDS, answers, additional: addressesOfTargets(set, entries) }));
  }
  if (records.length > 0 || steered !== null) fixed.set(TYPE.ANY, ANY_ANSWER);
  return { fixed, other: null, steered, isCut: false, below: null };
};

const bySet = (records: readonly TimedData[]): ReadonlyMap<RecordData["type"], readonly TimedData[]> =>
  Map.groupBy(records, ({ data }) => data.type);

type AliasContext = { readonly entries: ZoneEntries; readonly negativeSoa: DnsRecord };

/** RFC 1034 §3.6.2: whatever is asked of an alias, the alias comes first; RFC 6604 §3: the code is the last name's. */
const aliasName = (alias: TimedData, zone: string, { entries, negativeSoa }: AliasContext): ZoneName => {
  const { aliases, end } = chainOf(alias, zone, entries);
  const first = encodeImage({ ...NO_RECORDS, answers: aliases.slice(0, 1) });
  const fixed = new Map<number, Image>();
  if (end.kind === "ours") {
    for (const [type, set] of bySet(end.entry.records)) {
      const found = set.map((one): DnsRecord => ({ owner: { name: end.owner }, ...one }));
      fixed.set(TYPE[type], encodeImage({ ...NO_RECORDS, answers: [...aliases, ...found] }));
    }
  }
  // ANY of an alias is asked by who looks for the alias.
  for (const type of [TYPE.CNAME, TYPE.ANY]) fixed.set(type, first);
  return {
    fixed,
    other: otherOf({ aliases, end }, { entries, negativeSoa }),
    steered: null,
    isCut: false,
    below: null,
  };
};

const otherOf = ({ aliases: answers, end }: Chain, { entries, negativeSoa }: AliasContext): Image => {
  switch (end.kind) {
    case "ours":
      return encodeImage({ ...NO_RECORDS, answers, authority: [negativeSoa] });
    case "missing":
      return encodeImage({ ...NO_RECORDS, rcode: RCODE.NXDOMAIN, answers, authority: [negativeSoa] });
    case "given-away":
      return encodeImage({ ...NO_RECORDS, answers, ...referralTo(end.cut, { name: end.cut }, entries) });
    case "elsewhere":
      return encodeImage({ ...NO_RECORDS, answers });
  }
};

type CutContext = { readonly entries: ZoneEntries; readonly nodata: Image };

/** DS of a cut is the parent's to say, and that is us (RFC 4035 §3.1.4.1); all else is the other server's. */
const cutName = (name: string, entry: ZoneEntry, { entries, nodata }: CutContext): ZoneName => {
  const image = encodeImage({ ...NO_RECORDS, isAuthoritative: false, ...referralTo(name, { suffix: name }, entries) });
  // RFC 9471 §3: a referral without its glue would lead nowhere; what does not fit is asked for again over TCP.
  const referral = { ...image, requiredOctets: image.octets.length };
  return { fixed: new Map([[TYPE.DS, nodata]]), other: referral, steered: entry.steered, isCut: true, below: null };
};

const referralTo = (cut: string, owner: DnsRecord["owner"], entries: ZoneEntries) => {
  const set = entries.byName.get(cut)?.records ?? [];
  return {
    authority: set.map((one): DnsRecord => ({ owner, ...one })),
    additional: addressesOfTargets(set, entries),
  };
};

/** Of what NS, MX and SRV name, where it lies here and is the same for everybody. */
const addressesOfTargets = (set: readonly TimedData[], { byName, glue }: ZoneEntries): readonly DnsRecord[] =>
  [...new Set(set.map(hostOf))].flatMap((host) => {
    if (host === null) return [];
    return (glue.get(host) ?? byName.get(host)?.records ?? [])
      .filter((one) => one.data.type === "A" || one.data.type === "AAAA")
      .map((one): DnsRecord => ({ owner: { name: host }, ...one }));
  });

const hostOf = ({ data }: TimedData): string | null =>
  data.type === "NS" || data.type === "MX" || data.type === "SRV" ? targetOf(data) : null;
