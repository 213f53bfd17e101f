/** How long to wait before the next try: twice as long each time, until a try has lasted. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#shared/clock.ts";

export type Patience = {
  /** Of the try that failed now. */
  readonly nextMs: () => number;
  /** @returns false: given up before the time was over */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
};

const FIRST_MS = 100;
const LONGEST_MS = 10_000;
const HAS_LASTED_MS = 60_000;

export const createPatience = (clock: Pick<Clock, "monotonicMs">): Patience => {
  let nextMs = FIRST_MS;
  let triedAtMs = clock.monotonicMs();
  return {
    nextMs: () => {
      const nowMs = clock.monotonicMs();
      const waitMs = nowMs - triedAtMs >= HAS_LASTED_MS ? FIRST_MS : nextMs;
      nextMs = Math.min(waitMs * 2, LONGEST_MS);
      triedAtMs = nowMs;
      return waitMs;
    },
    wait: async (ms, signal) => {
      try {
        await sleep(ms, undefined, { signal });
        return true;
      } catch {
        // Nothing else ends a sleep.
        return false;
      }
    },
  };
};
