/** The store that a configuration names, for whichever program it is. */
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import type { Store } from "./store.ts";
import { createMemoryStore } from "./store-memory.ts";
import { createRedisStore } from "./store-redis.ts";
import type { StoreSettings } from "./store-settings.ts";
import { parseStoreUrl } from "./store-url.ts";

export type OpenStoreOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  /** How Redis shows this program's connections; without spaces. */
  readonly name: string;
};

/** Returns at once, also while Redis is away: it is then away until it answers. */
export const openStore = (settings: StoreSettings, { clock, log, name }: OpenStoreOptions): Store => {
  const address = parseStoreUrl(settings.url);
  if (address === null) throw new Error("openStore: the configuration's schema refuses such a URL");
  if (address.kind !== "memory") return createRedisStore(address, settings, { log, name, random: Math.random });
  log.warn("store.private", { meaning: "store.url is memory: nobody outside this process shares it" });
  return createMemoryStore(clock);
};
