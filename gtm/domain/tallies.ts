/** Tallies by key: observations are gathered, and each round's are folded together. Bounded by who makes the keys. */
import { fadedTo, type Habit, type Observed, type Tally, tallied } from "./tally.ts";

export type Tallies = {
  readonly observe: (key: string, observed: Observed) => void;
  /** @returns whether anything was observed since the last time */
  readonly fold: (nowMs: number) => boolean;
  /** As it counts at `nowMs`; null: nothing was ever observed. */
  readonly at: (key: string, nowMs: number) => Tally | null;
  readonly all: (nowMs: number) => readonly (readonly [key: string, tally: Tally])[];
  /** Begins with what another process knew, where it knew more. */
  readonly seed: (key: string, observed: Observed, nowMs: number) => void;
};

export const createTallies = (habit: Habit): Tallies => {
  const tallies = new Map<string, Tally>();
  const round = new Map<string, { weight: number; sum: number }>();
  const at = (key: string, nowMs: number): Tally | null => {
    const tally = tallies.get(key);
    return tally === undefined ? null : fadedTo(tally, nowMs, habit);
  };
  return {
    at,
    all: (nowMs) => [...tallies].map(([key, tally]) => [key, fadedTo(tally, nowMs, habit)] as const),
    observe: (key, { weight, sum }) => {
      const sofar = round.get(key) ?? { weight: 0, sum: 0 };
      sofar.weight += weight;
      sofar.sum += sum;
      round.set(key, sofar);
    },
    fold: (nowMs) => {
      const isAny = round.size > 0;
      for (const [key, observed] of round) tallies.set(key, tallied(tallies.get(key) ?? null, observed, nowMs, habit));
      round.clear();
      return isAny;
    },
    seed: (key, { weight, sum }, nowMs) => {
      if (weight > (at(key, nowMs)?.weight ?? 0)) tallies.set(key, { weight, sum, atMs: nowMs });
    },
  };
};
