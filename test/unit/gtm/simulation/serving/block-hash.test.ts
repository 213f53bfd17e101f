import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";

describe("the rolling hash of a block", () => {
  it("depends on the block's content, on its order and on everything before it", () => {
    const hashes = [
      chainHash(ROOT_HASH, [1, 2], 0, 2),
      chainHash(ROOT_HASH, [2, 1], 0, 2),
      chainHash(ROOT_HASH, [1, 3], 0, 2),
      chainHash(ROOT_HASH, [1], 0, 1),
      chainHash(chainHash(ROOT_HASH, [9], 0, 1), [1, 2], 0, 2),
    ];
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(chainHash(ROOT_HASH, [7, 1, 2, 7], 1, 3), hashes[0]);
  });

  it("does not repeat among 200 000 blocks of which many differ in one bit, and is a positive safe integer", () => {
    const seen = new Set<number>();
    for (let sequence = 0; sequence < 200; sequence++) {
      let hash = ROOT_HASH;
      for (let block = 0; block < 1_000; block++) {
        hash = chainHash(hash, [sequence, block], 0, 2);
        assert.ok(Number.isSafeInteger(hash) && hash > 0);
        seen.add(hash);
      }
    }
    assert.equal(seen.size, 200_000);
  });
});
