import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withNewcomers } from "#gtm/domain/newcomers.ts";
import type { Placement } from "#gtm/domain/placement.ts";
import type { Region } from "#gtm/domain/region.ts";
import { aPlacement, aRegion, MODEL } from "#test/support/builders.ts";

const PIN_MS = 900_000;
const NOW_MS = 2_000_000;
/** 100 000 tokens, so many of them live. */
const begun = (
  name: string,
  startedAtMs: number | null,
  liveTokens = 40_000,
  wish: Partial<Placement> = {},
): Region => {
  const placement = aPlacement(name, { kvCapacityTokens: 100_000, liveTokens, ...wish });
  const replicas = placement.replicas.map((replica) => ({ ...replica, startedAtMs }));
  return { ...aRegion(name), placements: new Map([[MODEL, { ...placement, replicas }]]) };
};
const floorsOf = (regions: readonly Region[]) =>
  withNewcomers(regions, NOW_MS, PIN_MS).map(({ placements }) => placements.get(MODEL)?.leastOccupancy);
const rounded = (floors: readonly (number | undefined)[]) => floors.map((one) => Number(one?.toFixed(9)));

describe("a region whose engines began later than the others'", () => {
  it("is taken to be as full as they are, less and less until contexts have lived there for the pin's time", () => {
    const after = (ms: number) =>
      floorsOf([begun("frankfurt", 0), begun("paris", 0, 20_000), begun("singapore", NOW_MS - ms, 0)]);
    assert.deepEqual(rounded(after(0)), [0, 0, 0.3]);
    assert.deepEqual(rounded(after(450_000)), [0, 0, 0.15]);
    assert.deepEqual(after(900_000), [0, 0, 0]);
  });
  it("is one by the mean of its replicas: one engine of many that restarts makes none", () => {
    const [region] = [begun("singapore", 0)];
    const [placement] = [region.placements.get(MODEL)];
    assert.ok(placement !== undefined);
    const [replica] = placement.replicas;
    assert.ok(replica !== undefined);
    const replicas = [replica, replica, replica, { ...replica, startedAtMs: NOW_MS }];
    const rolling = { ...region, placements: new Map([[MODEL, { ...placement, replicas }]]) };
    assert.deepEqual(floorsOf([begun("frankfurt", 0), rolling]), [0, 0]);
  });
});

describe("no region is a newcomer", () => {
  const cases: readonly (readonly [when: string, regions: readonly Region[]])[] = [
    ["all began within a minute", [begun("frankfurt", 1_900_000), begun("singapore", 1_959_000, 0)]],
    ["it is not known since when engines run", [begun("frankfurt", 0), begun("singapore", null, 0)]],
    [
      "it is not known how large its caches are",
      [begun("frankfurt", 0), begun("singapore", NOW_MS, 0, { kvCapacityTokens: null })],
    ],
    ["its model is not loaded yet", [begun("frankfurt", 0), begun("singapore", NOW_MS, 0, { state: "loading" })]],
    ["there is no other", [begun("singapore", NOW_MS, 0)]],
  ];
  for (const [when, regions] of cases) {
    it(`where ${when}, and the regions stay what they were`, () =>
      assert.equal(withNewcomers(regions, NOW_MS, PIN_MS), regions));
  }
});
