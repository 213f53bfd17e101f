/** A long answer needs room in the cache beside its prompt: a treatise from one line may wait where a summary does not. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aRegion, aReplica, decideIn } from "#test/support/builders.ts";

/** 4 000 of 100 000 tokens are free; running answers give back 2 000 a second. */
const full = (newTokensPerSecond: number | null) =>
  aRegion("frankfurt", {
    placement: {
      replicas: [aReplica("frankfurt", 0, { kvCapacityTokens: 100_000, kvPinnedTokens: 96_000 })],
      newTokensPerSecond,
    },
  });
const queueMs = (promptTokens: number, outputTokens: number, newTokensPerSecond: number | null = 2_000): number => {
  const decision = decideIn({ regions: [full(newTokensPerSecond)], query: { promptTokens, outputTokens } });
  const [only] = decision.considered;
  assert.ok(only?.kind === "candidate");
  return only.cost.queueMs;
};

describe("a replica whose cache has room for 4 000 tokens more", () => {
  it("takes a summary of 3 000 tokens in 300 at once", () => {
    assert.equal(queueMs(3_000, 300), 0);
  });
  it("lets a treatise of 8 000 tokens from a line of 100 wait 2.05 s for the 4 100 that are lacking", () => {
    assert.equal(queueMs(100, 8_000), 2_050);
  });
  it("says nothing where the pace is not known, and no more than a minute where there is no end", () => {
    assert.equal(queueMs(100, 8_000, null), 0);
    assert.equal(queueMs(100, 8_000, 0.001), 60_000);
  });
});
