/** The configuration that stands: one immutable value with a version, replaced whole; who decides reads it and never a part that he kept. */
import type { Clock } from "#shared/clock.ts";
import type { GtmConfig } from "./config.ts";

export type Standing = {
  /** 1 at start, one more with every configuration that was taken. */
  readonly version: number;
  readonly config: GtmConfig;
  /** Since when it stands, on the instance's monotonic clock. */
  readonly sinceMs: number;
};

export type StandingSettings = {
  readonly now: () => Standing;
  /** What stood at that moment of the monotonic clock; of moments that nobody remembers, the oldest that is. */
  readonly at: (monotonicMs: number) => Standing;
  readonly replace: (config: GtmConfig) => Standing;
};

/** Decisions are explained by what they were made with, as long as they are in memory. */
const MOST_REMEMBERED = 32;

export const createStandingSettings = (config: GtmConfig, clock: Pick<Clock, "monotonicMs">): StandingSettings => {
  let now: Standing = { version: 1, config, sinceMs: Number.NEGATIVE_INFINITY };
  /** Newest first. */
  let all: readonly Standing[] = [now];
  return {
    now: () => now,
    at: (monotonicMs) =>
      monotonicMs >= now.sinceMs ? now : (all.find(({ sinceMs }) => sinceMs <= monotonicMs) ?? oldestOf(all, now)),
    replace: (next) => {
      now = { version: now.version + 1, config: next, sinceMs: clock.monotonicMs() };
      all = [now, ...all].slice(0, MOST_REMEMBERED);
      return now;
    },
  };
};

const oldestOf = (all: readonly Standing[], now: Standing): Standing => all.at(-1) ?? now;

/** What is made of a configuration, made once as long as it is the same one. */
export const onceOf = <From extends object, Made>(make: (from: From) => Made): ((from: From) => Made) => {
  let last: { readonly from: From; readonly made: Made } | null = null;
  return (from) => {
    if (last?.from !== from) last = { from, made: make(from) };
    return last.made;
  };
};
