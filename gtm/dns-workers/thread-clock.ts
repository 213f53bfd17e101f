/** One monotonic clock for all threads: each thread's own begins when the thread does. */
import { performance } from "node:perf_hooks";
import { hrtime } from "node:process";
import type { Clock } from "#shared/clock.ts";

/** @returns where the clock's 0 is, on the system's monotonic clock, ms */
export const clockOriginMs = (clock: Pick<Clock, "monotonicMs">): number => systemMs() - clock.monotonicMs();

/** @param originMs of the main thread's clock */
export const createThreadClock = (originMs: number): Clock => {
  const behindMs = systemMs() - performance.now() - originMs;
  return { monotonicMs: () => performance.now() + behindMs, epochMs: () => Date.now() };
};

const systemMs = (): number => {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
};
