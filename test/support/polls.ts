/** How sources are polled in tests that are not about when: all are waited for. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PollsBy } from "#edge-agent/polls.ts";
import { systemClock } from "#shared/clock.ts";

export const unhurried: PollsBy = {
  clock: systemClock,
  waitUntil: async (atMs, signal) => {
    await sleep(Math.max(0, atMs - systemClock.monotonicMs()), undefined, { signal }).catch(() => undefined);
  },
  random: () => 0,
  patienceMs: 30_000,
  firstPatienceMs: 30_000,
  spreadMs: 0,
  most: 16,
  onAsked: () => {},
};
