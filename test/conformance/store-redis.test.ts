/** Redis is a store: one server, a primary and a replica under three Sentinels, a Cluster of three primaries. */
import { after, before, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { startCluster } from "#test/support/redis-cluster.ts";
import { startSentinels } from "#test/support/redis-sentinels.ts";
import { type StoreUnderTest, storeConformance } from "./store.ts";

type Started = { readonly url: string; readonly primaries: readonly RedisServer[]; readonly stop: () => Promise<void> };

const single = async (): Promise<Started> => {
  const server = await startRedis();
  return { url: server.url, primaries: [server], stop: server.stop };
};
const underSentinels = async (): Promise<Started> => {
  const { url, primary, stop } = await startSentinels();
  return { url, primaries: [primary], stop };
};
const cluster = async (): Promise<Started> => {
  const { url, nodes, stop } = await startCluster();
  return { url, primaries: nodes, stop };
};

const conforms = (name: string, start: () => Promise<Started>): void => {
  describe(name, () => {
    let started: Started;
    before(async () => {
      started = await start();
    });
    after(() => started.stop());

    storeConformance(name, async (): Promise<StoreUnderTest> => {
      for (const primary of started.primaries) await primary.cli("flushall");
      // Slower than any deadline of production: what is looked at here is what is answered, not when.
      const settings = StoreSettings.parse({ url: started.url, deadline: "20s" });
      const store = openStore(settings, { clock: systemClock, log: silentLogger, name: "conformance" });
      // Connected, as it is after a moment of any program's life.
      await store.get("nothing");
      return { store, advance: (ms) => sleep(ms), close: () => store.close() };
    });
  });
};

conforms("redis:", single);
conforms("redis+sentinel:", underSentinels);
conforms("redis+cluster:", cluster);
