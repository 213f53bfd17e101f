import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MODERATE_LOAD } from "#gtm/simulation/moderate-load.ts";
import { createReporter } from "#gtm/simulation/region-reporter.ts";
import type { Eyes } from "#gtm/simulation/scenario.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { createServingRegion } from "#gtm/simulation/serving/serving-region.ts";
import { ModelId } from "#shared/ids.ts";
import { aRequest } from "./serving/requests.ts";

const ENGINE = { ...DEFAULT_ENGINE, speed: { linMs: 1, attnMs: 0 } };

/** Two replicas; the first has served one request of 1 000 tokens, computes one of 3 000 since 1 s, and has two more waiting. */
const reported = (eyes: Eyes) => {
  const [site] = MODERATE_LOAD.sites;
  assert.ok(site !== undefined);
  const region = createServingRegion({ replicas: 2, engine: ENGINE, routing: "affinity", seed: 1, startedAtMs: 0 });
  const report = createReporter({ site, region, engine: ENGINE, model: ModelId.parse("m"), eyes });
  report(0);
  region.submit(aRequest({ promptTokens: 1_000, conversation: 1 }), 0, 0);
  region.advanceTo(9_000);
  for (const conversation of [2, 3, 4]) region.submit(aRequest({ promptTokens: 3_000, conversation }), 9_000, 0);
  region.advanceTo(10_000);
  const { report: made } = report(10_000);
  const [model] = made.models;
  assert.ok(model !== undefined);
  return model;
};

describe("a simulated region's report", () => {
  it("by an agent's eyes: waiting requests times what a request lately computed, over the rate", () => {
    const { replicas, requestsWaiting, requestsRunning, newTokensPerSecond } = reported("agent");
    assert.deepEqual(
      replicas.map(({ backlogMs }) => backlogMs),
      [2 * 1_000, 0],
    );
    assert.deepEqual([requestsWaiting, requestsRunning], [2, 1]);
    assert.equal(newTokensPerSecond, 1_001 / 10);
  });

  it("by a gateway's eyes: all that is left to compute", () => {
    assert.deepEqual(
      reported("gateway").replicas.map(({ backlogMs }) => backlogMs),
      [2_000 + 3_000 + 3_000, 0],
    );
  });

  it("knows capacity, speed and what is pinned", () => {
    const { kvCapacityTokens, replicas, prefixHitFraction, prefillTokensPerSecond } = reported("agent");
    assert.deepEqual([kvCapacityTokens, prefixHitFraction, prefillTokensPerSecond], [800_000, 0, 1_000]);
    assert.deepEqual([replicas[0]?.kvCapacityTokens, replicas[1]?.kvPinnedTokens], [400_000, 0]);
    assert.equal(Math.round(replicas[0]?.kvPinnedTokens ?? 0), 3_008);
  });
});
