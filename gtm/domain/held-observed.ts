/** c_r: how much of what the ledger says is held really is, from cached tokens against the uncorrected prediction. */
import { estimateOf, type Habit, type Observed, type Tally } from "./tally.ts";

/** Weights are promised tokens. */
export const HELD_HABIT: Habit = { fadesMs: 600_000, priorWeight: 80_000 };

/** Of less nothing is learnt: engines cache in blocks, and share a system prompt among conversations. */
export const LEAST_HELD_TOKENS = 256;

/**
 * One turn of which it is known how much was cached.
 *
 * @param heldTokens what the ledger said the region holds, no more than the prompt
 * @param survival chance that it is still there, without c_r: against the corrected one it would converge to a square root
 */
export const heldObserved = (heldTokens: number, survival: number, cachedTokens: number): Observed => ({
  weight: heldTokens * survival,
  sum: Math.min(cachedTokens, heldTokens),
});

/**
 * Turns of a region without a gateway: of what was sent there, the share that its engines say they had.
 *
 * @param promisedTokens Σ of the turns' uncorrected predictions
 * @param prefixHitFraction of the whole region; what other conversations share counts in, so this is an upper estimate
 */
export const heldObservedByShare = (
  promptTokens: number,
  promisedTokens: number,
  prefixHitFraction: number,
): Observed => ({ weight: promisedTokens, sum: promptTokens * prefixHitFraction });

/** @returns 0 to 1 */
export const heldCorrectionOf = (tally: Tally | null, prior: number): number =>
  Math.min(1, Math.max(0, estimateOf(tally, prior, HELD_HABIT)));
