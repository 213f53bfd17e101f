/** The names that are answered by decisions: of pools and of models. */
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { ModelId, PoolName } from "#shared/ids.ts";
import type { Addresses, ZoneContents } from "./zone-contents.ts";

export type SteeredName = {
  /** Position among all steered names, 0 and up: what caches index by. */
  readonly index: number;
  /** The pool, with only those regions that can be answered in the family; null: the name has no addresses of it at all. */
  readonly ipv4: Pool | null;
  readonly ipv6: Pool | null;
  /** Whether whatever region is decided for has an HTTPS record: all of the pool's say what they speak over TLS. */
  readonly hasHttps: boolean;
};

export type SteeredNames = {
  readonly ofPool: ReadonlyMap<PoolName, SteeredName>;
  readonly ofModel: ReadonlyMap<ModelId, SteeredName>;
};

export const steeredNames = (contents: Omit<ZoneContents, "zone" | "front">): SteeredNames => {
  const { pools, models, regions, defaultPool } = contents;
  const ofPool = new Map<PoolName, SteeredName>();
  const ofModel = new Map<ModelId, SteeredName>();
  const next = (pool: Pool): SteeredName => ({
    index: ofPool.size + ofModel.size,
    ipv4: inFamily(pool, regions, "ipv4"),
    ipv6: inFamily(pool, regions, "ipv6"),
    hasHttps: isServedOverTls(pool, regions),
  });
  for (const pool of pools) ofPool.set(pool.name, next(pool));
  for (const { id } of models) {
    const pool = [defaultPool, ...pools].find((one) => one.models.includes(id));
    if (pool !== undefined) ofModel.set(id, next({ ...pool, models: [id] }));
  }
  return { ofPool, ofModel };
};

/** A region without IPv6 must not make AAAA empty while another has it, and the other way round. */
const inFamily = (pool: Pool, regions: readonly RegionSite[], family: keyof Addresses): Pool | null => {
  const able = pool.regions.filter((id) => regions.some((one) => one.id === id && one.endpoint[family].length > 0));
  if (able.length === pool.regions.length) return pool;
  if (able.length > 0) return { ...pool, regions: able };
  // No region is ever answered in this family; the last resort's addresses are, but only while no region serves.
  return pool.lastResort.kind === "addresses" && pool.lastResort[family].length > 0 ? pool : null;
};

/** A browser that sees an HTTPS record uses TLS from then on (RFC 9460 §9.5): one plain region would be lost to it. */
const isServedOverTls = (pool: Pool, regions: readonly RegionSite[]): boolean =>
  pool.answer === "regions" && pool.regions.every((id) => regions.some((one) => one.id === id && one.alpn.length > 0));
