import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDice } from "#gtm/simulation/dice.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import { aRequest } from "./requests.ts";

/** Mean wait of 20 000 requests of one or of two lengths that come at random, with nothing to find in the cache. */
const meanWaitMs = (lengths: readonly number[], requestsPerMs: number): number => {
  const dice = createDice(11);
  const replica = createReplica({ ...DEFAULT_ENGINE, speed: { linMs: 1, attnMs: 0 }, kvTokens: 3_200 }, 0);
  const count = 20_000;
  let atMs = 0;
  let waitedMs = 0;
  for (let conversation = 0; conversation < count; conversation++) {
    atMs -= Math.log(1 - dice()) / requestsPerMs;
    const promptTokens = lengths[Math.floor(dice() * lengths.length)] ?? 1;
    replica.advanceTo(atMs);
    waitedMs += replica.backlogMs();
    replica.submit(aRequest({ promptTokens, conversation }), atMs);
  }
  return waitedMs / count;
};

/** Pollaczek and Khinchine: λ·E[s²] ÷ 2(1 − ρ). */
const expectedWaitMs = (lengths: readonly number[], requestsPerMs: number): number => {
  const moment = (power: number) => lengths.reduce((sum, ms) => sum + ms ** power, 0) / lengths.length;
  return (requestsPerMs * moment(2)) / (2 * (1 - requestsPerMs * moment(1)));
};

describe("a replica to which requests come at random", () => {
  const cases: readonly { load: number; lengths: readonly number[] }[] = [
    { load: 0.3, lengths: [100] },
    { load: 0.6, lengths: [100] },
    { load: 0.6, lengths: [20, 180] },
    { load: 0.8, lengths: [20, 180] },
  ];
  for (const { load, lengths } of cases) {
    it(`makes them wait as queueing theory says, within 8 %: load ${load}, ${lengths.join(" or ")} ms each`, () => {
      const requestsPerMs = load / 100;
      const expectedMs = expectedWaitMs(lengths, requestsPerMs);
      const waitMs = meanWaitMs(lengths, requestsPerMs);
      assert.ok(Math.abs(waitMs / expectedMs - 1) < 0.08, `${waitMs} ms, not ${expectedMs} ms`);
    });
  }
});
