/** What goes wrong on the way to Redis, told once and then now and then: an outage of an hour is not a log of an hour. */
import type { Logger } from "./logger.ts";

export type FaultLog = {
  readonly tell: (fault: Error) => void;
  readonly changed: (isUp: boolean) => void;
  /** It is being closed on purpose. */
  readonly mute: () => void;
};

const TOLD_EVERY_MS = 30_000;

export const createFaultLog = (log: Logger, store: string): FaultLog => {
  const toldAtMs = new Map<string, number>();
  let isMuted = false;
  return {
    tell: (fault) => {
      const cause = fault.message === "" ? fault.name : fault.message;
      const nowMs = performance.now();
      if (isMuted || nowMs - (toldAtMs.get(cause) ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return;
      // Causes are few; should they name ports or nodes without end, the memory of them is not worth keeping.
      if (toldAtMs.size > 100) toldAtMs.clear();
      toldAtMs.set(cause, nowMs);
      log.warn("redis.fault", { store, cause });
    },
    changed: (isUp) => {
      if (isMuted) return;
      if (isUp) {
        toldAtMs.clear();
        log.info("redis.up", { store });
      } else log.warn("redis.down", { store });
    },
    mute: () => {
      isMuted = true;
    },
  };
};
