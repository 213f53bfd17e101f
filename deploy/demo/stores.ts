/** The stores that the demo's programs open: one in memory that all share, or a connection to Redis for each. */
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";

export type DemoStores = {
  /** As the programs' configurations name it. */
  readonly url: string;
  /** Whoever opens one closes it. @param program how Redis shows its connections */
  readonly open: (program: string) => Store;
};

export const memoryStores = (): DemoStores => {
  const shared = createMemoryStore(systemClock);
  // The program that ends first must not take the others' along.
  const store: Store = { ...shared, close: async () => undefined };
  return { url: "memory:", open: () => store };
};

export const redisStores = (url: string, log: Logger): DemoStores => {
  const settings = StoreSettings.parse({ url });
  return { url, open: (name) => openStore(settings, { clock: systemClock, log, name }) };
};
