import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { quantile } from "#edge-agent/quantile.ts";

const BOUNDS = [0.1, 0.25, 1, Number.POSITIVE_INFINITY];

describe("a quantile of a histogram", () => {
  const cases: readonly {
    readonly when: string;
    readonly fraction: number;
    readonly counts: readonly number[];
    readonly value: number;
    readonly isCapped: boolean;
  }[] = [
    { when: "in the middle of a bucket", fraction: 0.5, counts: [0, 10, 10, 10], value: 0.175, isCapped: false },
    {
      when: "in the first bucket, which begins at 0",
      fraction: 0.5,
      counts: [10, 10, 10, 10],
      value: 0.05,
      isCapped: false,
    },
    { when: "at the end of a bucket", fraction: 0.5, counts: [0, 5, 10, 10], value: 0.25, isCapped: false },
    { when: "beyond the last finite bound", fraction: 0.95, counts: [0, 0, 5, 10], value: 1, isCapped: true },
    { when: "the lowest", fraction: 0, counts: [0, 5, 10, 10], value: 0.1, isCapped: false },
    { when: "the highest", fraction: 1, counts: [0, 5, 10, 10], value: 1, isCapped: false },
  ];
  for (const { when, fraction, counts, value, isCapped } of cases) {
    it(`is ${value}${isCapped ? ", capped," : ""} ${when}`, () => {
      assert.deepEqual(quantile(fraction, BOUNDS, counts), { value, isCapped });
    });
  }
  it("is unknown where nothing was counted", () => {
    assert.equal(quantile(0.5, BOUNDS, [0, 0, 0, 0]), null);
    assert.equal(quantile(0.5, [], []), null);
  });
  it("is unknown where there is no finite bound", () => {
    assert.equal(quantile(0.5, [Number.POSITIVE_INFINITY], [4]), null);
  });
});
