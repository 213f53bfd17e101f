/** A clock that stands still until the test moves it. */
import type { Clock } from "#shared/clock.ts";

export type ManualClock = Clock & {
  /** @param ms 0 or more: monotonic time does not go back */
  readonly advance: (ms: number) => void;
  /** Sets the time of day, as an administrator or NTP does; monotonic time does not notice. */
  readonly setEpochMs: (epochMs: number) => void;
};

export const createManualClock = (epochMs: number = Date.UTC(2026, 10, 30)): ManualClock => {
  let monotonic = 1_000;
  let offset = epochMs - monotonic;
  return {
    monotonicMs: () => monotonic,
    epochMs: () => monotonic + offset,
    advance: (ms) => {
      monotonic += ms;
    },
    setEpochMs: (to) => {
      offset = to - monotonic;
    },
  };
};
