import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLeastRequestsRival, createRoundRobinRival, createStickyRival } from "#gtm/simulation/baselines.ts";
import { CITIES, type City } from "#gtm/simulation/cities.ts";
import { createAgenda } from "#gtm/simulation/clock.ts";
import { MODERATE_LOAD } from "#gtm/simulation/moderate-load.ts";

const stage = { agenda: createAgenda(), sites: MODERATE_LOAD.sites, regions: [] };
const [EU, US, AP] = [0, 1, 2];
const ask = (name: string, previous: number | null = null) => {
  const city = CITIES.find((one) => one.name === name) as City;
  return { conversation: 1, city, promptTokens: 1_000, previous };
};
const finished = (region: number) => ({ conversation: 1, region, replica: 0, promptTokens: 1_000, outputTokens: 1 });

describe("sticky", () => {
  it("takes a conversation's first turn to the nearest region and leaves the others where that was", () => {
    const rival = createStickyRival(stage);
    assert.deepEqual(
      [rival.choose(ask("Paris")), rival.choose(ask("Chicago")), rival.choose(ask("Sydney"))],
      [EU, US, AP],
    );
    assert.equal(rival.choose(ask("Paris", AP)), AP);
  });
});

describe("least requests", () => {
  it("counts what is under way, and of equal regions takes the nearest", () => {
    const rival = createLeastRequestsRival(stage);
    const turns = [1, 2, 3].map(() => rival.choose(ask("Paris")));
    assert.deepEqual(turns, [EU, US, AP]);
    rival.onFinished(finished(AP));
    assert.equal(rival.choose(ask("Paris", EU)), AP);
  });
});

describe("round robin", () => {
  it("takes each turn to the next region", () => {
    const rival = createRoundRobinRival(stage);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => rival.choose(ask("Paris", EU))),
      [EU, US, AP, EU],
    );
  });
});
