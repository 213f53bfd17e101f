/** How long answers are, by how long the prompt is: a summary of a long text and a treatise from one line differ. */
import { agreedOn, estimateOf, type Habit, isHeard, type Observed, type Tally } from "./tally.ts";

/** A prompt below the first bound is of class 0; each class is four times the one before. */
const CLASS_BOUNDS = [256, 1_024, 4_096, 16_384, 65_536] as const;
export const PROMPT_SIZE_CLASSES = CLASS_BOUNDS.length + 1;

/** Longer is a mistake of whoever counted, or an answer that says nothing of the next one. */
const LONGEST_ANSWER = 131_072;

/** Weights are turns. */
export const OUTPUT_HABIT: Habit = { fadesMs: 3_600_000, priorWeight: 20 };

/** @returns 0 to `PROMPT_SIZE_CLASSES` − 1 */
export const promptSizeClass = (promptTokens: number): number => {
  const at = CLASS_BOUNDS.findIndex((bound) => promptTokens < bound);
  return at === -1 ? CLASS_BOUNDS.length : at;
};

/** For people: "256 to 1 024 tokens". */
export const promptSizeText = (sizeClass: number): string => {
  const from = CLASS_BOUNDS[sizeClass - 1];
  const to = CLASS_BOUNDS[sizeClass];
  return from === undefined
    ? `below ${to} tokens`
    : to === undefined
      ? `${from} tokens and more`
      : `${from} to ${to} tokens`;
};

export const outputObserved = (completionTokens: number): Observed => ({
  weight: 1,
  sum: Math.min(completionTokens, LONGEST_ANSWER),
});

/** @param byRegion one tally a region, of one pool and class. @returns null: nobody has seen enough */
export const outputTokensOf = (byRegion: readonly (Tally | null)[], priorTokens: number): number | null => {
  const heard = byRegion.filter((tally) => isHeard(tally, OUTPUT_HABIT));
  return agreedOn(
    heard.map((tally) => estimateOf(tally, priorTokens, OUTPUT_HABIT)),
    priorTokens,
  );
};
