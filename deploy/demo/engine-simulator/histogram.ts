/** Observations counted into buckets. */

export type Histogram = {
  readonly bounds: readonly number[];
  /** One more than bounds, for what lies above the last. */
  readonly counts: number[];
  sum: number;
};

export const createHistogram = (bounds: readonly number[]): Histogram => ({
  bounds,
  counts: new Array<number>(bounds.length + 1).fill(0),
  sum: 0,
});

/** @param times how often this value was observed */
export const observe = (histogram: Histogram, value: number, times = 1): void => {
  const found = histogram.bounds.findIndex((bound) => value <= bound);
  const at = found === -1 ? histogram.bounds.length : found;
  histogram.counts[at] = (histogram.counts[at] ?? 0) + times;
  histogram.sum += value * times;
};
