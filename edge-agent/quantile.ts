/** A quantile out of a histogram's buckets. */

export type Quantile = {
  readonly value: number;
  /** It lies beyond the last finite bound, which is reported in its place. */
  readonly isCapped: boolean;
};

/**
 * By linear interpolation within the bucket, as Prometheus does.
 *
 * @param fraction 0 to 1
 * @param bounds ascending, the last one infinite, as many as counts
 * @param counts how many fell at or below each bound; growth between two scrapes, never over the life of the process
 * @returns null where nothing was counted
 */
export const quantile = (fraction: number, bounds: readonly number[], counts: readonly number[]): Quantile | null => {
  const total = counts.at(-1) ?? 0;
  if (!(total > 0)) return null;
  const rank = fraction * total;
  const at = counts.findIndex((count) => count >= rank && count > 0);
  const bound = bounds[at] ?? Number.POSITIVE_INFINITY;
  const below = at > 0 ? (bounds[at - 1] ?? 0) : 0;
  if (bound === Number.POSITIVE_INFINITY) return at > 0 ? { value: below, isCapped: true } : null;
  const countBelow = at > 0 ? (counts[at - 1] ?? 0) : 0;
  const within = (counts[at] ?? 0) - countBelow;
  const share = within > 0 ? (rank - countBelow) / within : 1;
  return { value: below + (bound - below) * share, isCapped: false };
};
