import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDice, logNormal, pickWeighted } from "#gtm/simulation/dice.ts";

const draw = <T>(count: number, one: () => T): T[] => Array.from({ length: count }, one);

describe("seeded dice", () => {
  it("repeat themselves from the same seed and differ from another", () => {
    const throws = (seed: number) => draw(5, createDice(seed));
    assert.deepEqual(throws(3), throws(3));
    assert.notDeepEqual(throws(3), throws(4));
  });

  it("are spread evenly: 10 000 throws, each tenth gets 900 to 1 100", () => {
    const tenths = new Array<number>(10).fill(0);
    for (const value of draw(10_000, createDice(1)))
      tenths[Math.floor(value * 10)] = (tenths[Math.floor(value * 10)] ?? 0) + 1;
    for (const count of tenths) assert.ok(count > 900 && count < 1_100, `${tenths}`);
  });

  it("draw log-normal values with the median and the 90th percentile asked for, within 5 %", () => {
    const dice = createDice(2);
    const values = draw(20_000, () => logNormal(dice, 126, 480)).sort((a, b) => a - b);
    for (const [at, expected] of [
      [10_000, 126],
      [18_000, 480],
    ] as const) {
      assert.ok(Math.abs((values[at] ?? 0) / expected - 1) < 0.05, `${values[at]}`);
    }
  });

  it("pick by weight, and never what weighs nothing", () => {
    const dice = createDice(5);
    const picks = draw(10_000, () => pickWeighted(dice, [3, 0, 1]));
    assert.ok(!picks.includes(1));
    assert.ok(Math.abs(picks.filter((pick) => pick === 0).length - 7_500) < 200);
  });
});
