/** The zone's serial under a changed configuration: whoever compares serials must see that the zone changed. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { Zone } from "#gtm/domain/zone.ts";

/** Whatever names and records are made from. */
export type Served = {
  readonly dns: { readonly zone: Zone; readonly defaultPool: Pool };
  readonly http: { readonly addresses: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] } };
  readonly sites: readonly RegionSite[];
  readonly models: readonly Model[];
  readonly pools: readonly Pool[];
};

const SERIALS = 2 ** 32;

/** The file's serial where it rises (RFC 1982); else the one before, or the next where the zone is another. */
export const servedSerial = (before: Served, after: Served): number => {
  const [was, wanted] = [before.dns.zone.soa.serial, after.dns.zone.soa.serial];
  if (isLater(wanted, was)) return wanted;
  return contentOf(before) === contentOf(after) ? was : (was + 1) % SERIALS;
};

const isLater = (serial: number, than: number): boolean => {
  const ahead = (serial - than + SERIALS) % SERIALS;
  return ahead > 0 && ahead < SERIALS / 2;
};

const contentOf = ({ dns, http, sites, models, pools }: Served): string =>
  JSON.stringify([
    { ...dns.zone, soa: { ...dns.zone.soa, serial: 0 } },
    ...[dns.defaultPool.name, http.addresses, sites, models, pools],
  ]);
