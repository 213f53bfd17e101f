/** Block ids as traces write them: runs of a first id and how many follow each other. Ids below 0 are those of shared prompts. */
import { faultAt, type Place } from "./trace-file.ts";

/** Start and length, start and length, … */
export type BlockRuns = readonly number[];

/** @throws {OperationalError} GTM_TRACE_INVALID when runs do not pair, or hold another number of blocks than the prompt */
export const checkRuns = (runs: BlockRuns, promptTokens: number, blockTokens: number, place: Place): void => {
  const expected = Math.ceil(promptTokens / blockTokens);
  const found = blocksIn(runs);
  if (runs.length % 2 === 0 && (found === expected || found === Math.floor(promptTokens / blockTokens))) return;
  throw faultAt(
    place,
    `"h" as pairs of first id and count that make ${expected} blocks of ${blockTokens} tokens, found ${found} blocks in ${runs.length} numbers`,
  );
};

export const blocksIn = (runs: BlockRuns): number => {
  let blocks = 0;
  for (let at = 1; at < runs.length; at += 2) blocks += runs[at] ?? 0;
  return blocks;
};

/** @returns the id of block `at`, from 0; null: there is none */
export const blockAt = (runs: BlockRuns, at: number): number | null => {
  let before = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const length = runs[i + 1] ?? 0;
    if (at < before + length) return (runs[i] ?? 0) + at - before;
    before += length;
  }
  return null;
};

/** Calls with every `step`th block, its place counted from 1, before `limit`; 1: with every one. */
export const eachBlock = (
  runs: BlockRuns,
  limit: number,
  step: number,
  visit: (id: number, at: number) => void,
): void => {
  let before = 0;
  let at = step - 1;
  for (let i = 0; i < runs.length && at < limit; i += 2) {
    const start = runs[i] ?? 0;
    const end = Math.min(before + (runs[i + 1] ?? 0), limit);
    for (; at < end; at += step) visit(start + at - before, at);
    before += runs[i + 1] ?? 0;
  }
};

/** As runs again, neighbours joined. */
export const runsOf = (ids: readonly number[]): BlockRuns => {
  const runs: number[] = [];
  for (const id of ids) {
    const last = runs.length - 2;
    if (last >= 0 && (runs[last] ?? 0) + (runs[last + 1] ?? 0) === id) runs[last + 1] = (runs[last + 1] ?? 0) + 1;
    else runs.push(id, 1);
  }
  return runs;
};

/** The same blocks, but the first `count` of them with ids from `first` on: a prompt that others share. */
export const withShared = (runs: BlockRuns, first: number, count: number): BlockRuns => {
  const result: number[] = count === 0 ? [] : [first, count];
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    const start = runs[i] ?? 0;
    const length = runs[i + 1] ?? 0;
    const skipped = Math.min(Math.max(count - at, 0), length);
    if (length > skipped) result.push(start + skipped, length - skipped);
    at += length;
  }
  return result;
};
