/** New conversations: as many as asked for, where and when they are wanted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES, type City } from "#gtm/simulation/cities.ts";
import { createDice } from "#gtm/simulation/dice.ts";
import { type Arrival, arrivals } from "#gtm/simulation/generator/arrivals.ts";
import type { Demand } from "#gtm/simulation/generator/generator-options.ts";

const [london, paris] = CITIES as unknown as readonly [City, City];

const before = (ms: number, perSecond: number, demand: Demand | null, cities: readonly City[] = [london, paris]) => {
  const found: Arrival[] = [];
  for (const arrival of arrivals(createDice(7), cities, perSecond, demand)) {
    if (arrival.atMs >= ms) return found;
    found.push(arrival);
  }
  return found;
};
const within = (found: number, expected: number) => {
  // Four standard deviations of a Poisson count.
  assert.ok(Math.abs(found - expected) <= 4 * Math.sqrt(expected), `${found}, not about ${expected}`);
};

describe("arrivals", () => {
  it("come at the rate asked for, and as cities weigh", () => {
    const found = before(1_000_000, 2, null);
    within(found.length, 2_000);
    const share = london.weight / (london.weight + paris.weight);
    within(found.filter(({ city }) => city === london).length, 2_000 * share);
  });

  it("follow demand in time and place", () => {
    // London asks thrice as much for the first 500 s, then nothing; Paris as always.
    const found = before(1_000_000, 2, (city, atMs) => (city === paris ? 1 : atMs < 500_000 ? 3 : 0));
    const each = (2 * 500) / (london.weight + paris.weight);
    within(found.filter(({ city, atMs }) => city === london && atMs < 500_000).length, 3 * each * london.weight);
    within(found.filter(({ city, atMs }) => city === paris && atMs < 500_000).length, each * paris.weight);
    assert.equal(found.filter(({ city, atMs }) => city === london && atMs >= 500_000).length, 0);
    within(found.filter(({ city, atMs }) => city === paris && atMs >= 500_000).length, each * paris.weight);
  });

  it("wait while nobody asks, but not for ever", () => {
    const found = before(200_000, 1, (_, atMs) => (atMs < 100_000 ? 0 : 1));
    assert.ok(found.length > 0 && found.every(({ atMs }) => atMs >= 100_000));
    assert.throws(() => before(1_000, 1, () => 0), RangeError);
  });
});
