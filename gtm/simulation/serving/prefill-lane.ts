/** Prefills under way: how long so many of their tokens take, and how many a time computes; both in closed form. */
import type { PrefillSpeed } from "#gtm/domain/serving.ts";

/** One of them: what is computed of its tokens, and how far it must come; the positions count from the prompt's beginning. */
export type Prefilling<T> = { readonly job: T; readonly from: number; readonly to: number; at: number };

/** n tokens of all prefills together take lin·n + square·n² ms. */
export type LanePace = { readonly lin: number; readonly square: number };

/**
 * Prefills share each step equally, so that of n tokens each of k computes n/k, the next of them after those it has:
 * its attention costs attnMs · n/k · (at + n/2k), which sums up to exactly `prefillMs` of the whole, however it is cut.
 *
 * @param lane at least one
 * @param besideMs what decoding adds to each of these tokens
 */
export const lanePace = (lane: readonly Prefilling<unknown>[], speed: PrefillSpeed, besideMs: number): LanePace => {
  let positions = 0;
  for (const { at } of lane) positions += at;
  return {
    lin: speed.linMs + besideMs + (speed.attnMs * positions) / lane.length,
    square: speed.attnMs / (2 * lane.length),
  };
};

export const msOf = ({ lin, square }: LanePace, tokens: number): number => (lin + square * tokens) * tokens;

/** @returns the inverse of `msOf`: tokens, a fraction of one too */
export const tokensIn = ({ lin, square }: LanePace, ms: number): number =>
  (2 * ms) / (lin + Math.sqrt(lin * lin + 4 * square * ms));

/** @returns index of the one with the least left to compute; −1: there is none */
export const nextToEnd = (lane: readonly Prefilling<unknown>[]): number => {
  let next = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < lane.length; index++) {
    const left = leftOf(lane[index]);
    if (left >= least) continue;
    least = left;
    next = index;
  }
  return next;
};

const leftOf = (one: Prefilling<unknown> | undefined): number =>
  one === undefined ? Number.POSITIVE_INFINITY : one.to - one.at;

/** Tokens that all of them compute together until the first ends. */
export const tokensToNextEnd = (lane: readonly Prefilling<unknown>[]): number => {
  const next = lane[nextToEnd(lane)];
  return next === undefined ? Number.POSITIVE_INFINITY : lane.length * Math.max(0, next.to - next.at);
};

export const advanceLane = (lane: readonly Prefilling<unknown>[], tokens: number): void => {
  const each = tokens / lane.length;
  for (const one of lane) one.at = Math.min(one.to, one.at + each);
};
