/** Whether clients came faster than they could be served for as long as it was looked at: then a mean says how long one looked. */
import type { RunTally } from "./run-tally.ts";

/** Chosen: waits that are long, and longer from third to third; crowds that come and go do not reach it by the end. */
const GROWTH = 1.3;
const LONG_MS = 10_000;
const UNFINISHED_FRACTION = 0.02;

export type LoopEnd = { readonly isOpenLoop: boolean; readonly unfinished: number };

/** @param runs one policy's by several seeds; in a closed loop waits are bounded by the clients, so it is never so there */
export const waitsGrow = (runs: readonly { readonly tally: RunTally; readonly end: LoopEnd }[]): boolean => {
  if (!runs.every(({ end }) => end.isOpenLoop)) return false;
  const meanWaitMs = (third: number): number => {
    const turns = sumOf(runs, ({ tally }) => tally.sums.thirds[third]?.turns ?? 0);
    return sumOf(runs, ({ tally }) => tally.sums.thirds[third]?.queuedMs ?? 0) / Math.max(1, turns);
  };
  const served = sumOf(runs, ({ tally }) => tally.ttft.total);
  const unfinished = sumOf(runs, ({ end }) => end.unfinished);
  if (unfinished > UNFINISHED_FRACTION * (served + unfinished)) return true;
  const [first, middle, last] = [meanWaitMs(0), meanWaitMs(1), meanWaitMs(2)];
  return last > LONG_MS && last > GROWTH * first && first < middle && middle < last;
};

const sumOf = <T>(list: readonly T[], pick: (one: T) => number): number =>
  list.reduce((sum, one) => sum + pick(one), 0);
