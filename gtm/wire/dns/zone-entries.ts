/** The zone as a table of records: what the GTM makes, what the owner keeps in it, and names that exist for those below them. */
import { isInZone, type NameServer, type Zone } from "#gtm/domain/zone.ts";
import { cutAbove, cutsOf } from "#gtm/domain/zone-record.ts";
import { modelSlugs } from "./model-slug.ts";
import type { RecordData } from "./record-data.ts";
import type { SteeredName, SteeredNames } from "./steered-name.ts";
import type { Addresses, ZoneContents } from "./zone-contents.ts";

export type TimedData = { readonly ttlSeconds: number; readonly data: RecordData };

export type ZoneEntry = {
  /** Empty for a name that is steered only, or exists only because others lie below it (RFC 8020 §2). */
  readonly records: readonly TimedData[];
  readonly steered: SteeredName | null;
};

export type ZoneEntries = {
  /** Without the trailing dot; none lies below a cut. */
  readonly byName: ReadonlyMap<string, ZoneEntry>;
  /** Names that are given to other servers: their entries hold NS, which are not ours to vouch for. */
  readonly cuts: ReadonlySet<string>;
  /** Addresses of name servers at or below cuts. */
  readonly glue: ReadonlyMap<string, readonly TimedData[]>;
};

/** Name servers and SOA change by a new configuration on every GTM, and the parent keeps its copy for a day or more. */
export const LASTING_TTL_SECONDS = 3_600;
/** Addresses from the configuration: an operator who changes one waits a minute. */
const FIXED_TTL_SECONDS = 60;

export const zoneEntries = (contents: ZoneContents, steered: SteeredNames): ZoneEntries => {
  const { zone } = contents;
  const byName = ownEntries(contents, steered);
  const cuts = cutsOf(zone.records);
  const glue = new Map<string, TimedData[]>();
  for (const { name, ttlSeconds, value } of zone.records) {
    const isGlue = cutAbove(name, cuts) !== null || (cuts.has(name) && value.type !== "NS");
    if (isGlue) glue.set(name, [...(glue.get(name) ?? []), { ttlSeconds, data: value }]);
    else addTo(byName, name, [{ ttlSeconds, data: value }]);
  }
  addParents(byName, zone.name);
  return { byName, cuts, glue };
};

type Table = Map<string, ZoneEntry>;

const addTo = (byName: Table, name: string, records: readonly TimedData[]): void => {
  const { records: there, steered } = byName.get(name) ?? { records: [], steered: null };
  byName.set(name, { records: [...there, ...records], steered });
};

const addParents = (byName: Table, zone: string): void => {
  for (const name of [...byName.keys()]) {
    let parent = name;
    while (parent !== zone) {
      parent = parent.slice(parent.indexOf(".") + 1);
      if (!byName.has(parent)) addTo(byName, parent, []);
    }
  }
};

const ownEntries = (contents: ZoneContents, { ofPool, ofModel }: SteeredNames): Table => {
  const { zone, pools, models, regions, front } = contents;
  const byName: Table = new Map();
  const slugs = modelSlugs(models.map(({ id }) => id));
  const frontRecords = addressData(front, FIXED_TTL_SECONDS);

  for (const parent of ["c", "m", "r"]) addTo(byName, `${parent}.${zone.name}`, []);
  addTo(byName, `front.${zone.name}`, frontRecords);
  for (const pool of pools) {
    addTo(byName, `${pool.name}.front.${zone.name}`, frontRecords);
    const name = `${pool.name}.${zone.name}`;
    if (pool.answer === "front") addTo(byName, name, frontRecords);
    else byName.set(name, { records: [], steered: ofPool.get(pool.name) ?? null });
  }
  for (const [id, steered] of ofModel) byName.set(`${slugs.get(id)}.m.${zone.name}`, { records: [], steered });
  for (const { id, endpoint } of regions)
    addTo(byName, `${id}.r.${zone.name}`, addressData(endpoint, FIXED_TTL_SECONDS));
  for (const server of zone.ns.filter(({ name }) => isInZone(name, zone.name))) {
    addTo(byName, server.name, addressData(server, LASTING_TTL_SECONDS));
  }
  byName.set(zone.name, apexEntry(zone, ofPool));
  return byName;
};

/** Its addresses are the pool's; its HTTPS record only points to the pool's name (RFC 9460 §2.4.2). */
const apexEntry = (zone: Zone, ofPool: SteeredNames["ofPool"]): ZoneEntry => {
  const { name, ns, apexPool } = zone;
  const steered = apexPool === null ? null : (ofPool.get(apexPool) ?? null);
  const lasting = [soaOf(zone), ...ns.map(({ name: host }: NameServer): RecordData => ({ type: "NS", host }))];
  const alias: RecordData = { type: "HTTPS", service: { mode: "alias", target: `${apexPool}.${name}` } };
  return {
    records: [
      ...lasting.map((data) => ({ ttlSeconds: LASTING_TTL_SECONDS, data })),
      ...(steered?.hasHttps === true ? [{ ttlSeconds: FIXED_TTL_SECONDS, data: alias }] : []),
    ],
    steered: steered === null ? null : { ...steered, hasHttps: false },
  };
};

export const soaOf = ({ ns, soa }: Zone): RecordData => ({ type: "SOA", mname: ns[0]?.name ?? "", ...soa });

const addressData = ({ ipv4, ipv6 }: Addresses, ttlSeconds: number): readonly TimedData[] => [
  ...ipv4.map((address): TimedData => ({ ttlSeconds, data: { type: "A", address } })),
  ...ipv6.map((address): TimedData => ({ ttlSeconds, data: { type: "AAAA", address } })),
];
