/** Which conversations leave a region that is being drained, and when: the cheapest first, all by a deadline. */
import { hash32 } from "./hash.ts";

/**
 * Made once, when the drain is ordered, and kept in the order, so that every GTM lets the same conversations go at the same
 * time, also one that starts in between.
 */
export type DrainSchedule = {
  /** Unix epoch ms. */
  readonly startsAtMs: number;
  /** Unix epoch ms, not before the start: from then on nothing stays. */
  readonly endsAtMs: number;
  /**
   * From so many ms after the start on, conversations up to this key leave; neither ever falls from one step to the next,
   * and in between the key grows evenly. What is beyond the last step leaves at the end.
   */
  readonly steps: readonly (readonly [afterMs: number, key: number])[];
};

/** What a region, or the traffic of an override, is drained by; one that is not in here leaves at its next turn. */
export type Drains = {
  readonly byRegion: ReadonlyMap<string, DrainSchedule>;
  readonly byOverride: ReadonlyMap<string, DrainSchedule>;
};
export const NO_DRAINS: Drains = { byRegion: new Map(), byOverride: new Map() };

/**
 * Where a conversation stands in the order of leaving: by the tokens that would have to be computed again and, among equals,
 * by a hash of its name, so that a thousand of one size do not leave at once.
 *
 * @param heldTokens 0 or more
 * @returns 0 or more
 */
export const leavingKey = (heldTokens: number, name: string): number => heldTokens + hash32(name) / 0x1_0000_0000;

/** @returns Unix epoch ms, from the schedule's start to its end; grows with the key, or stays */
export const leavesAtMs = ({ startsAtMs, endsAtMs, steps }: DrainSchedule, key: number): number => {
  let [beforeMs, beforeKey] = [0, 0];
  for (const [afterMs, stepKey] of steps) {
    if (key <= stepKey) {
      const fraction = stepKey > beforeKey ? (key - beforeKey) / (stepKey - beforeKey) : 1;
      const atMs = startsAtMs + beforeMs + Math.max(0, fraction) * (afterMs - beforeMs);
      return Math.min(endsAtMs, Math.max(startsAtMs, atMs));
    }
    [beforeMs, beforeKey] = [afterMs, stepKey];
  }
  return endsAtMs;
};
