import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPrefixIndex } from "#gtm/simulation/rivals/prefix-index.ts";
import { aRequest } from "../serving/requests.ts";

const blocksOf = (conversation: number, promptTokens = 2_048, sharedTokens = 0) =>
  aRequest({ promptTokens, conversation, sharedTokens }).blocks;

describe("a prefix index of two regions with room for 4 096 tokens each", () => {
  const anIndex = () => createPrefixIndex([4_096, 4_096], 16);

  it("knows what was held where, in whole steps of 128 tokens, and by which replica", () => {
    const index = anIndex();
    index.held(1, 3, blocksOf(1), 1_000);
    assert.deepEqual(index.match(1, blocksOf(1), 2_000), { tokens: 896, replica: 3 });
    assert.deepEqual(index.match(0, blocksOf(1), 2_000), { tokens: 0, replica: null });
  });
  it("knows what another conversation shares, as far as it does", () => {
    const index = anIndex();
    index.held(0, 2, blocksOf(1, 2_048, 512), 2_048);
    assert.equal(index.match(0, blocksOf(2, 2_048, 512), 2_048).tokens, 512);
  });
  it("never spares the last token of a prompt", () => {
    const index = anIndex();
    index.held(0, 0, blocksOf(1, 1_024), 1_024);
    assert.equal(index.match(0, blocksOf(1, 1_024), 1_024).tokens, 896);
  });
  it("forgets the least recently used, a sequence's end before its beginning", () => {
    const index = anIndex();
    index.held(0, 0, blocksOf(1), 2_048);
    index.held(0, 0, blocksOf(2), 2_048);
    index.held(0, 0, blocksOf(3), 1_024);
    assert.equal(index.match(0, blocksOf(1), 2_049).tokens, 1_024);
    assert.equal(index.match(0, blocksOf(2), 2_049).tokens, 2_048);
  });
  it("forgets a region that died, and no other", () => {
    const index = anIndex();
    index.held(0, 0, blocksOf(1), 2_048);
    index.held(1, 0, blocksOf(1), 2_048);
    index.forget(0);
    assert.equal(index.match(0, blocksOf(1), 2_049).tokens, 0);
    assert.equal(index.match(1, blocksOf(1), 2_049).tokens, 2_048);
  });
});
