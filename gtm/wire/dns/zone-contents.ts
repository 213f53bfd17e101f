/** What the names of the zone are made from. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { Zone } from "#gtm/domain/zone.ts";

export type Addresses = { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };

export type ZoneContents = {
  readonly zone: Zone;
  readonly pools: readonly Pool[];
  readonly models: readonly Model[];
  readonly regions: readonly RegionSite[];
  readonly defaultPool: Pool;
  /** The GTMs' own HTTP addresses. */
  readonly front: Addresses;
};
