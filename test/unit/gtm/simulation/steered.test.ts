import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES, type City } from "#gtm/simulation/cities.ts";
import { createAgenda } from "#gtm/simulation/clock.ts";
import { MODERATE_LOAD } from "#gtm/simulation/moderate-load.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { createServingRegion } from "#gtm/simulation/serving/serving-region.ts";
import { createSteeredRival } from "#gtm/simulation/steered.ts";
import { aRequest } from "./serving/requests.ts";

const [EU, US, AP] = [0, 1, 2];
const paris = CITIES.find(({ name }) => name === "Paris") as City;
const ask = (promptTokens: number, previous: number | null) => ({
  conversation: 5,
  city: paris,
  promptTokens,
  previous,
});

const setting = () => {
  const agenda = createAgenda();
  const { sites } = MODERATE_LOAD;
  const regions = sites.map((_, seed) =>
    createServingRegion({ replicas: 2, engine: DEFAULT_ENGINE, routing: "affinity", seed, startedAtMs: 0 }),
  );
  const rival = createSteeredRival({ agenda, sites, regions }, DEFAULT_ENGINE, "agent");
  const passTime = (ms: number): void => {
    agenda.runUntil(agenda.nowMs() + ms);
    for (const region of regions) region.advanceTo(agenda.nowMs());
  };
  /** So many prompts of 4 000 tokens on each replica. */
  const fill = (index: number, count: number): void => {
    const region = regions[index];
    for (let i = 0; i < count * 2; i++) {
      region?.submit(aRequest({ promptTokens: 4_000, conversation: 100 + index * 1_000 + i }), agenda.nowMs(), i % 2);
    }
  };
  return { rival, passTime, fill };
};

describe("this GTM in a simulation, for a conversation in Paris", () => {
  it("places the first turn in Frankfurt, and keeps the next there", () => {
    const { rival, passTime } = setting();
    passTime(1_500);
    assert.equal(rival.choose(ask(12_000, null)), EU);
    passTime(20_000);
    assert.equal(rival.choose(ask(12_500, EU)), EU);
  });

  it("leaves Frankfurt when a report says that 24 prompts wait at each of its replicas, more than recomputing 12 000 tokens", () => {
    const { rival, passTime, fill } = setting();
    passTime(1_500);
    rival.choose(ask(12_000, null));
    passTime(10_000);
    // What was served lately tells an agent how much a waiting request has to compute.
    fill(EU, 1);
    passTime(2_000);
    fill(EU, 24);
    assert.equal(rival.choose(ask(12_500, EU)), EU, "no report has told yet");
    passTime(1_000);
    assert.equal(rival.choose(ask(13_000, EU)), US);
  });

  it("goes to the idle region when both nearer ones are busy", () => {
    const { rival, passTime, fill } = setting();
    passTime(1_500);
    for (const region of [EU, US]) fill(region, 1);
    passTime(2_000);
    for (const region of [EU, US]) fill(region, 24);
    passTime(1_000);
    assert.equal(rival.choose(ask(2_000, null)), AP);
  });

  it("counts its own sends before a report knows of them: not all of twelve long prompts go to Frankfurt", () => {
    const { rival, passTime } = setting();
    passTime(1_500);
    const chosen = Array.from({ length: 12 }, (_, conversation) =>
      rival.choose({ conversation, city: paris, promptTokens: 40_000, previous: null }),
    );
    assert.equal(chosen[0], EU);
    assert.equal(new Set(chosen).size, 3, `${chosen}`);
  });
});
