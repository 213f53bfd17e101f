/** Arithmetic with values of which some are unknown (null), and none may be anything but a finite number. */

/** Larger than anything that is reported truthfully, small enough that sums and products of such values stay finite. */
const MOST = 1e15;

/** @returns the value within the bounds; null for what is unknown or no number */
export const bounded = (value: number | null, least = 0, most = MOST): number | null =>
  value === null || Number.isNaN(value) ? null : Math.min(most, Math.max(least, value));

/** Sum of what is known: a lower bound where something is not; null where nothing is. */
export const sumOfKnown = (values: Iterable<number | null>): number | null => {
  let sum: number | null = null;
  for (const value of values) if (value !== null) sum = (sum ?? 0) + value;
  return sum;
};

/** The least of what is known; null where nothing is. */
export const leastKnown = (values: Iterable<number | null>): number | null => {
  let least: number | null = null;
  for (const value of values) if (value !== null && (least === null || value < least)) least = value;
  return least;
};

/** The greatest of what is known; null where nothing is. */
export const greatestKnown = (values: Iterable<number | null>): number | null => {
  let greatest: number | null = null;
  for (const value of values) if (value !== null && (greatest === null || value > greatest)) greatest = value;
  return greatest;
};

/** `weight` null: not known, and then all weigh the same. */
export type Weighted = { readonly value: number | null; readonly weight: number | null };

/** Mean of what is known; null where nothing is. Within the least and the greatest value, whatever rounding does. */
export const meanOfKnown = (items: readonly Weighted[]): number | null => {
  const areKnown = areWeightsKnown(items);
  let [sum, weights] = [0, 0];
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { value, weight } of items) {
    if (value === null) continue;
    const share = areKnown ? (weight ?? 0) : 1;
    sum += value * share;
    weights += share;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return weights === 0 ? null : bounded(sum / weights, least, greatest);
};

/** The same where all weigh the same, read without making anything for each of them. */
export const evenMeanOfKnown = <T>(items: readonly T[], read: (one: T) => number | null): number | null => {
  let [sum, count] = [0, 0];
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const one of items) {
    const value = read(one);
    if (value === null) continue;
    sum += value;
    count += 1;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return count === 0 ? null : bounded(sum / count, least, greatest);
};

/** All of those whose value is known, and one of them at least weighs something. */
const areWeightsKnown = (items: readonly Weighted[]): boolean => {
  let isAny = false;
  for (const { value, weight } of items) {
    if (value === null) continue;
    if (weight === null) return false;
    if (weight > 0) isAny = true;
  }
  return isAny;
};
