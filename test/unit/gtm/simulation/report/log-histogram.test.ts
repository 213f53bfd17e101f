import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  createLogHistogram,
  type LogHistogram,
  meanOf,
  merged,
  observe,
  quantileOf,
} from "#gtm/simulation/report/log-histogram.ts";

const histogramOf = (values: readonly number[]): LogHistogram => {
  const histogram = createLogHistogram();
  for (const value of values) observe(histogram, value);
  return histogram;
};
const durations = fc.array(fc.double({ min: 0.1, max: 10_000_000, noNaN: true }), { minLength: 1, maxLength: 60 });

describe("a histogram of durations", () => {
  it("tells every quantile within 0.5 % of the nearest rank's value", () => {
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, fraction) => {
        const sorted = values.toSorted((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(fraction * values.length)) - 1] ?? Number.NaN;
        const told = quantileOf(histogramOf(values), fraction) ?? Number.NaN;
        assert.ok(Math.abs(told - exact) <= 0.005 * exact, `${told} instead of ${exact}`);
      }),
    );
  });
  it("tells the mean exactly", () => assert.equal(meanOf(histogramOf([1, 2, 6])), 3));
  it("says the same when it was counted in two parts", () => {
    fc.assert(
      fc.property(durations, durations, (a, b) => {
        const parts = merged([histogramOf(a), histogramOf(b)]);
        const whole = histogramOf([...a, ...b]);
        assert.deepEqual(parts.counts, whole.counts);
        assert.equal(quantileOf(parts, 0.95), quantileOf(whole, 0.95));
        assert.equal(parts.total, whole.total);
      }),
    );
  });
  it("holds what is shorter and longer than its buckets", () => {
    assert.equal(quantileOf(histogramOf([0, 0, 0]), 0.5), 0);
    assert.equal(quantileOf(histogramOf([1e9]), 0.5), 1e9);
  });
  it("knows nothing when nothing was observed", () => {
    assert.equal(meanOf(createLogHistogram()), null);
    assert.equal(quantileOf(createLogHistogram(), 0.5), null);
  });
});
