/** A whole GTM in this process, for the benchmarks of its admin API: several regions that place several models, none of them real. */
import { parseGtmConfig } from "#gtm/config.ts";
import { type Gtm, startGtm } from "#gtm/start.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { houseYaml } from "#test/support/house.ts";
import { conversationAt, LOADED_MODELS, LOADED_REGIONS } from "./redis-memory-load.ts";

/** On any free ports, with the regions and models of `conversationAt`. */
export const startAdminSubject = (store: Store): Promise<Gtm> => {
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  const [region] = house.regions;
  const regions = LOADED_REGIONS.map((id, at) => ({
    ...region,
    id,
    endpoint: { url: `http://127.0.3.9:${at + 1}`, a: [`127.0.3.${at + 1}`] },
  }));
  const config = JSON.stringify({
    ...house,
    regions,
    models: LOADED_MODELS.map((id) => ({ id })),
    pools: [{ name: "chat", models: LOADED_MODELS, regions: LOADED_REGIONS }],
  });
  return startGtm(parseGtmConfig(config, "bench", {}), store, {
    clock: systemClock,
    log: silentLogger,
    metrics: createMetrics(),
  });
};

/** So many conversations into any store, as a GTM writes them. */
export const fill = async (store: Store, count: number): Promise<void> => {
  for (let at = 0; at < count; at++) {
    const { key, value, heldIn, sizesIn, member, lastTurnEpochMs, size } = conversationAt(at, systemClock);
    await store.put(key, value, 3_600_000);
    await store.indexAdd(heldIn, member, lastTurnEpochMs);
    await store.indexAdd(sizesIn, member, size);
  }
};
