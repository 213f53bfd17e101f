/** How many decisions one reader is told of: some at once, then evenly over time; the others are counted. */

export type EventPace = {
  /** Whether this one may be told; if not, it is counted as skipped. */
  readonly allows: () => boolean;
  /** How many were skipped since it was last asked; 0 within a second of the first of them. */
  readonly takeSkipped: () => number;
};

const SECOND_MS = 1_000;

/** @param perSecond 1 or more; as many may come at once after a silence */
export const createEventPace = (perSecond: number, monotonicMs: () => number): EventPace => {
  let left = perSecond;
  let seenAtMs = monotonicMs();
  let skipped = 0;
  let skippedSinceMs = 0;
  return {
    allows: () => {
      const nowMs = monotonicMs();
      left = Math.min(perSecond, left + ((nowMs - seenAtMs) * perSecond) / SECOND_MS);
      seenAtMs = nowMs;
      if (left >= 1) {
        left -= 1;
        return true;
      }
      if (skipped === 0) skippedSinceMs = nowMs;
      skipped += 1;
      return false;
    },
    takeSkipped: () => {
      if (skipped === 0 || monotonicMs() - skippedSinceMs < SECOND_MS) return 0;
      const count = skipped;
      skipped = 0;
      return count;
    },
  };
};
