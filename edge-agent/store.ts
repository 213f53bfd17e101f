/** The store that a configuration names, as far as this version has it. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";

/** @throws {OperationalError} GTM_STORE_UNSUPPORTED for anything but `memory:` */
export const openStore = (url: string, clock: Clock, log: Logger): Store => {
  if (url !== "memory:") {
    const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(url)?.[0] ?? "no scheme";
    const message = `store.url: expected memory:, the only store of this version, found ${scheme}`;
    throw new OperationalError("GTM_STORE_UNSUPPORTED", message);
  }
  log.warn("store.private", {
    seenBy: "this process only",
    why: "store.url is memory:, so no GTM reads these reports",
  });
  return createMemoryStore(clock);
};
