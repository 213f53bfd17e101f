/** How full regions are once displaced conversations have arrived: what is in use where they leave goes with them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Move, usesAfter } from "#gtm/wire/admin/use-after.ts";
import { aRegion, aWorld, MODEL, type PlacementWish } from "#test/support/builders.ts";

const moves = (count: number, before: string, after: string): readonly Move[] =>
  Array.from({ length: count }, () => ({ model: MODEL, before, after }));
/** 400 000 tokens of KV memory and 5 000 tokens/s each. */
const world = (frankfurt: PlacementWish, paris: PlacementWish) =>
  aWorld([
    aRegion("frankfurt", { placement: frankfurt }),
    aRegion("paris", { placement: paris }),
    aRegion("virginia", { placement: { kvCacheUsedFraction: 0.1, sparePrefillTokensPerSecond: 5_000 } }),
  ]);
/** Ten are pinned to each region. */
const uses = (now: Parameters<typeof usesAfter>[0], some: readonly Move[]) => usesAfter(now, some, () => 10);
const half = { kvCacheUsedFraction: 0.5, sparePrefillTokensPerSecond: 2_500 };
const third = { kvCacheUsedFraction: 0.3, sparePrefillTokensPerSecond: 4_000 };

describe("Frankfurt, half full, of whose ten conversations", () => {
  it("all go to Paris: its half comes on top of Paris's own", () => {
    assert.deepEqual(uses(world(half, third), moves(10, "frankfurt", "paris")), [
      {
        ...{ region: "paris", model: MODEL, arriving: 10 },
        kvUsedFraction: { now: 0.3, after: 0.8 },
        prefillUsedFraction: { now: 0.2, after: 0.7 },
      },
    ]);
  });
  it("four go to Paris and six to Virginia: each gets its part", () => {
    const found = uses(world(half, third), [...moves(4, "frankfurt", "paris"), ...moves(6, "frankfurt", "virginia")]);
    assert.deepEqual(
      found.map(({ region, arriving, kvUsedFraction }) => [region, arriving, kvUsedFraction?.after]),
      [
        ["paris", 4, 0.5],
        ["virginia", 6, 0.4],
      ],
    );
  });
  it("half stay: half of what is in use stays with them", () => {
    const found = uses(world(half, third), [...moves(5, "frankfurt", "paris"), ...moves(5, "frankfurt", "frankfurt")]);
    assert.deepEqual(
      found.map(({ kvUsedFraction }) => kvUsedFraction?.after),
      [0.55],
    );
  });
  it("none leave, or find no region: nobody arrives anywhere", () => {
    assert.deepEqual(uses(world(half, third), moves(10, "frankfurt", "frankfurt")), []);
    assert.deepEqual(uses(world(half, third), moves(10, "frankfurt", "")), []);
  });
  it("all go to a region of a quarter of its size, which that more than fills", () => {
    const small = { kvCacheUsedFraction: 0.1, kvCapacityTokens: 100_000, sparePrefillTokensPerSecond: 5_000 };
    const [use] = uses(world(half, small), moves(10, "frankfurt", "paris"));
    assert.deepEqual(use?.kvUsedFraction, { now: 0.1, after: 2.1 });
  });
});

describe("what is not reported", () => {
  it("where they leave or where they arrive is not known afterwards", () => {
    const silent = { kvCacheUsedFraction: null, prefillTokensPerSecond: null };
    for (const [here, there] of [
      [silent, third],
      [half, silent],
    ] as const) {
      const [use] = uses(world(here, there), moves(10, "frankfurt", "paris"));
      assert.deepEqual([use?.kvUsedFraction, use?.prefillUsedFraction], [null, null]);
    }
  });
});
