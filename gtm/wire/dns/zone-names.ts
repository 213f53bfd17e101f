/** Every name of the zone that is known beforehand, with what it answers; the rest are labels, `why` and nothing. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import { isInZone, type NameServer, type Zone } from "#gtm/domain/zone.ts";
import type { ModelId, PoolName } from "#shared/ids.ts";
import { type DnsRecord, encodeImage, type RecordData } from "./codec.ts";
import type { Image } from "./image.ts";
import { modelSlugs } from "./model-slug.ts";
import { RCODE, TYPE } from "./record-type.ts";

export type Addresses = { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };

/** A name that is answered by a decision. */
export type SteeredName = {
  /** Position among all steered names, 0 and up: what caches index by. */
  readonly index: number;
  /** The pool, with only those regions that can be answered in the family; null: the name has no addresses of it at all. */
  readonly ipv4: Pool | null;
  readonly ipv6: Pool | null;
};

export type ZoneName = {
  /** By record type; empty for a name that exists only because others lie below it (RFC 8020 §2). */
  readonly fixed: ReadonlyMap<number, Image>;
  readonly steered: SteeredName | null;
};

export type ZoneContents = {
  readonly zone: Zone;
  readonly pools: readonly Pool[];
  readonly models: readonly Model[];
  readonly regions: readonly RegionSite[];
  readonly defaultPool: Pool;
  /** The GTMs' own HTTP addresses. */
  readonly front: Addresses;
};

/** Name servers and SOA change by a new configuration on every GTM, and the parent keeps its copy for a day or more. */
export const LASTING_TTL_SECONDS = 3_600;
/** Addresses from the configuration: an operator who changes one waits a minute. */
const FIXED_TTL_SECONDS = 60;

const NOTHING: ZoneName = { fixed: new Map(), steered: null };

export const steeredNames = (contents: ZoneContents) => {
  const { pools, models, regions, defaultPool } = contents;
  const ofPool = new Map<PoolName, SteeredName>();
  const ofModel = new Map<ModelId, SteeredName>();
  const next = (pool: Pool): SteeredName => ({
    index: ofPool.size + ofModel.size,
    ipv4: inFamily(pool, regions, "ipv4"),
    ipv6: inFamily(pool, regions, "ipv6"),
  });
  for (const pool of pools) ofPool.set(pool.name, next(pool));
  for (const { id } of models) {
    const pool = [defaultPool, ...pools].find((one) => one.models.includes(id));
    if (pool !== undefined) ofModel.set(id, next({ ...pool, models: [id] }));
  }
  return { ofPool, ofModel };
};

export type SteeredNames = ReturnType<typeof steeredNames>;

/** A region without IPv6 must not make AAAA empty while another has it, and the other way round. */
const inFamily = (pool: Pool, regions: readonly RegionSite[], family: keyof Addresses): Pool | null => {
  const able = pool.regions.filter((id) => regions.some((one) => one.id === id && one.endpoint[family].length > 0));
  if (able.length === pool.regions.length) return pool;
  if (able.length > 0) return { ...pool, regions: able };
  // No region is ever answered in this family; the last resort's addresses are, but only while no region serves.
  return pool.lastResort.kind === "addresses" && pool.lastResort[family].length > 0 ? pool : null;
};

/** @returns by name, without the trailing dot */
export const zoneNames = (contents: ZoneContents, { ofPool, ofModel }: SteeredNames): ReadonlyMap<string, ZoneName> => {
  const { zone, pools, models, regions, front } = contents;
  const names = new Map<string, ZoneName>();
  const slugs = modelSlugs(models.map(({ id }) => id));
  const frontName = { fixed: fixedAddresses(front), steered: null };

  for (const parent of ["c", "m", "r"]) names.set(`${parent}.${zone.name}`, NOTHING);
  names.set(`front.${zone.name}`, frontName);
  for (const pool of pools) {
    names.set(`${pool.name}.front.${zone.name}`, frontName);
    const steered = ofPool.get(pool.name) ?? null;
    names.set(`${pool.name}.${zone.name}`, pool.answer === "front" ? frontName : { fixed: new Map(), steered });
  }
  for (const [id, steered] of ofModel) names.set(`${slugs.get(id)}.m.${zone.name}`, { fixed: new Map(), steered });
  for (const { id, endpoint } of regions) {
    names.set(`${id}.r.${zone.name}`, { fixed: fixedAddresses(endpoint), steered: null });
  }
  for (const server of zone.ns.filter(({ name }) => isInZone(name, zone.name))) {
    names.set(server.name, { fixed: fixedAddresses(server, LASTING_TTL_SECONDS), steered: null });
  }
  names.set(zone.name, {
    fixed: apexImages(zone),
    steered: zone.apexPool === null ? null : (ofPool.get(zone.apexPool) ?? null),
  });
  return withParents(names, zone.name);
};

const withParents = (names: Map<string, ZoneName>, zone: string): Map<string, ZoneName> => {
  for (const name of [...names.keys()]) {
    let parent = name;
    while (parent !== zone) {
      parent = parent.slice(parent.indexOf(".") + 1);
      if (!names.has(parent)) names.set(parent, NOTHING);
    }
  }
  return names;
};

const apexImages = (zone: Zone): ReadonlyMap<number, Image> => {
  const nsRecords = zone.ns.map(({ name }): DnsRecord => fromQuestion({ type: "NS", host: name }));
  const glue = zone.ns.filter(({ name }) => isInZone(name, zone.name)).flatMap(glueRecords);
  return new Map([
    [TYPE.SOA, image([fromQuestion(soaOf(zone))])],
    [TYPE.NS, image(nsRecords, glue)],
  ]);
};

export const soaOf = ({ ns, soa }: Zone): RecordData => ({ type: "SOA", mname: ns[0]?.name ?? "", ...soa });

const fromQuestion = (data: RecordData, ttlSeconds = LASTING_TTL_SECONDS): DnsRecord => ({
  owner: "question",
  ttlSeconds,
  data,
});

const glueRecords = ({ name, ipv4, ipv6 }: NameServer): readonly DnsRecord[] =>
  addressData({ ipv4, ipv6 }).map((data) => ({ owner: { name }, ttlSeconds: LASTING_TTL_SECONDS, data }));

const addressData = ({ ipv4, ipv6 }: Addresses): readonly RecordData[] => [
  ...ipv4.map((address): RecordData => ({ type: "A", address })),
  ...ipv6.map((address): RecordData => ({ type: "AAAA", address })),
];

const fixedAddresses = (addresses: Addresses, ttlSeconds = FIXED_TTL_SECONDS): ReadonlyMap<number, Image> => {
  const images = new Map<number, Image>();
  const data = addressData(addresses);
  for (const type of ["A", "AAAA"] as const) {
    const records = data.filter((one) => one.type === type).map((one) => fromQuestion(one, ttlSeconds));
    if (records.length > 0) images.set(TYPE[type], image(records));
  }
  return images;
};

const image = (answers: readonly DnsRecord[], additional: readonly DnsRecord[] = []): Image =>
  encodeImage({ rcode: RCODE.NOERROR, isAuthoritative: true, error: null, answers, authority: [], additional });
