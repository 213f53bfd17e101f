import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backoffMs } from "#shared/store-redis-clients.ts";

describe("the pause before Redis is tried again", () => {
  it("doubles from a tenth of a second to two seconds, and ends there however long it is away", () => {
    const longest = Array.from({ length: 6 }, (_, at) => backoffMs(at + 1, () => 1));
    assert.deepEqual(longest, [100, 200, 400, 800, 1_600, 2_000]);
    assert.equal(
      backoffMs(1_000_000, () => 1),
      2_000,
    );
  });
  it("is spread over half of it, so that a hundred programs do not come in the same moment", () => {
    assert.equal(
      backoffMs(6, () => 0),
      1_000,
    );
    const spread = new Set(Array.from({ length: 100 }, (_, at) => backoffMs(6, () => at / 100)));
    assert.equal(spread.size, 100);
  });
});
