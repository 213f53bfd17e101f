/** What a benchmark is, and how the house measures: fixed iteration counts, alternating pairs, results consumed. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export type BenchRow = {
  /** What was measured, such as "steer(), 3 regions of 4 replicas, pinned". */
  readonly what: string;
  readonly value: number;
  /** Of the value: "µs", "queries/s", "bytes". */
  readonly unit: string;
  /** What it was compared with in the same run; null: nothing. */
  readonly against: string | null;
  /** value ÷ the other's value; null where nothing was compared. */
  readonly ratio: number | null;
  /** "≤ 5" or "≥ 0.6": of the ratio where there is one, else of the value; null: reported only. */
  readonly bound: string | null;
};

/** Every test/bench/*.bench.ts exports one as `bench`. */
export type Bench = { readonly name: string; readonly run: () => Promise<readonly BenchRow[]> };

/** Runs its body so many times and returns something made from the results, so that the compiler cannot leave the work out. */
export type Loop = (iterations: number) => unknown;

/** @returns mean nanoseconds an iteration */
export const nsPerIteration = async (iterations: number, loop: Loop): Promise<number> => {
  const startedAt = process.hrtime.bigint();
  consume(await loop(iterations));
  return Number(process.hrtime.bigint() - startedAt) / iterations;
};

/**
 * Bytes that an iteration puts on the heap, the median of eleven short runs that each start from a collected heap.
 *
 * @param iterations few enough that one run fits into the young generation (16 MB): a collection in between hides what it took
 */
export const bytesPerIteration = async (iterations: number, loop: Loop): Promise<number> => {
  // Warm, or the first runs count what the compiler allocates.
  for (let i = 0; i < 20; i++) consume(await loop(iterations));
  const runs: number[] = [];
  for (let i = 0; i < 11; i++) {
    collectGarbage();
    const before = getHeapStatistics().used_heap_size;
    const result = await loop(iterations);
    runs.push((getHeapStatistics().used_heap_size - before) / iterations);
    consume(result);
  }
  return median(runs);
};

export type Pairs = {
  /** Medians over the pairs. */
  readonly a: number;
  readonly b: number;
  /** Median of A ÷ median of B. */
  readonly ratio: number;
};

/**
 * Measures two things in turn, so that whatever else the machine does meets both: A B, B A, A B, …
 * One pair in front is not counted.
 *
 * @param pairs counted ones; 10 unless a single measurement takes long
 */
export const alternate = async (
  pairs: number,
  measureA: () => number | Promise<number>,
  measureB: () => number | Promise<number>,
): Promise<Pairs> => {
  const as: number[] = [];
  const bs: number[] = [];
  for (let pair = 0; pair <= pairs; pair++) {
    const isAFirst = pair % 2 === 0;
    const first = await (isAFirst ? measureA : measureB)();
    const second = await (isAFirst ? measureB : measureA)();
    if (pair === 0) continue;
    as.push(isAFirst ? first : second);
    bs.push(isAFirst ? second : first);
  }
  const [a, b] = [median(as), median(bs)];
  return { a, b, ratio: a / b };
};

/** @param values at least one; of an even number the mean of the middle two */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new Error("the median of nothing");
  return (upper + lower) / 2;
};

const kept: { result: unknown } = { result: null };
/** Keeps a result reachable until the next one comes. */
export const consume = (result: unknown): void => {
  kept.result = result;
};

const collectGarbage = (): void => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
};
