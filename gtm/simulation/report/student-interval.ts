/** Means over paired seeds and what they are worth: 95 % intervals by Student's t. */

export type Interval = {
  readonly mean: number;
  /** Half of the 95 % interval's width; null: of a single seed none can be told. */
  readonly halfWidth: number | null;
};

/** Quantile 0.975 of Student's t by degrees of freedom, from 1; beyond the table Cornish and Fisher's expansion is good to 0.001. */
const T975: readonly number[] = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];
const Z975 = 1.959964;

const t975 = (freedom: number): number => T975[freedom - 1] ?? Z975 + (Z975 ** 3 + Z975) / (4 * freedom);

/** @returns null: of nothing */
export const intervalOf = (values: readonly number[]): Interval | null => {
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length === 1) return { mean, halfWidth: null };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, halfWidth: t975(values.length - 1) * Math.sqrt(variance / values.length) };
};

export type Pair = { readonly ours: number; readonly theirs: number };

/**
 * How much more ours is than theirs, as a fraction of their mean: the interval is that of the differences, seed by seed, since
 * seeds differ from each other by far more than policies do.
 *
 * @returns null: there is no pair, or theirs is 0
 */
export const pairedExcess = (pairs: readonly Pair[]): Interval | null => {
  const theirs = intervalOf(pairs.map((pair) => pair.theirs));
  const differences = intervalOf(pairs.map((pair) => pair.ours - pair.theirs));
  if (theirs === null || differences === null || !(theirs.mean > 0)) return null;
  const { mean, halfWidth } = differences;
  return { mean: mean / theirs.mean, halfWidth: halfWidth === null ? null : halfWidth / theirs.mean };
};
