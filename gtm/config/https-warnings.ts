/** What works of HTTPS records and is hardly meant so. */
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";

/** @returns sentences for the person who wrote the configuration */
export const httpsWarnings = (pools: readonly Pool[], sites: readonly RegionSite[]): readonly string[] =>
  pools.flatMap(({ name, regions, answer }) => {
    const silent = regions.filter((id) => sites.some((one) => one.id === id && one.alpn.length === 0));
    if (answer === "front" || silent.length === 0 || silent.length === regions.length) return [];
    return [
      `pool ${name} has no HTTPS records: endpoint.alpn is given for some of its regions, not for ${silent.join(", ")}`,
    ];
  });
