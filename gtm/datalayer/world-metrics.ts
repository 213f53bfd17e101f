/** What dashboards see of the world: ages, memory in use, the store. */
import { greatestKnown } from "#gtm/domain/known.ts";
import type { Health, Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Gauge, Metrics } from "#shared/metrics.ts";

export type WorldMetrics = { readonly look: (world: World, before: World) => void };

export const createWorldMetrics = (metrics: Metrics): WorldMetrics => {
  const reportAge = metrics.gauge({
    name: "gtm_region_report_age_seconds",
    help: "Age of the region's report by the store's clock; absent until there is one.",
    labels: ["region"],
  });
  const kvCacheUsed = metrics.gauge({
    name: "gtm_region_kv_cache_used_fraction",
    help: "Share of the KV cache in active use, of the region's fullest model.",
    labels: ["region"],
  });
  const worldAge = metrics.gauge({
    name: "gtm_world_age_seconds",
    help: "How old the last world had become when it was replaced.",
  });
  const storeUp = metrics.gauge({ name: "gtm_store_up", help: "1 while the store answers, else 0." });
  const regionHealth = metrics.gauge({
    name: "gtm_region_health",
    help: "1 for what the region is: healthy, degraded, unhealthy or silent; 0 for the rest.",
    labels: ["region", "health"],
  });
  const lookAt = (region: Region): void => {
    const labels = { region: region.id };
    setOrRemove(reportAge, region.reportAgeMs === null ? null : region.reportAgeMs / 1_000, labels);
    const used = [...region.placements.values()].map((placement) => placement.kvCacheUsedFraction);
    setOrRemove(kvCacheUsed, greatestKnown(used), labels);
    for (const health of HEALTHS) regionHealth.set(region.health === health ? 1 : 0, { ...labels, health });
  };
  /** The configuration has it no more. */
  const forget = (region: RegionId): void => {
    for (const gauge of [reportAge, kvCacheUsed]) gauge.remove({ region });
    for (const health of HEALTHS) regionHealth.remove({ region, health });
  };
  return {
    look: (world, before) => {
      worldAge.set(Math.max(0, world.takenAtMs - before.takenAtMs) / 1_000);
      storeUp.set(world.isStoreUp ? 1 : 0);
      for (const { id } of before.regions) if (!world.regions.some((region) => region.id === id)) forget(id);
      for (const region of world.regions) lookAt(region);
    },
  };
};

const HEALTHS: readonly Health[] = ["healthy", "degraded", "unhealthy", "silent"];

/** What is not known has no series. */
const setOrRemove = (gauge: Gauge, value: number | null, labels: Readonly<Record<string, string>>): void =>
  value === null ? gauge.remove(labels) : gauge.set(value, labels);
