import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLedger } from "#gtm/simulation/ledger.ts";
import { ConversationId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";

const model = ModelId.parse("m");
const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => RegionId.parse(id)) as [RegionId, RegionId, RegionId, RegionId];
const [one, two] = ["1", "2"].map((id) => ConversationId.parse(id.padStart(13, "0"))) as [
  ConversationId,
  ConversationId,
];
const aLedger = () => createLedger({ model, pinMs: 1_000, nextTurnFraction: 0.5 });
const held = (region: RegionId, tokens: number, atMs: number) => ({ region, replica: null, tokens, atMs });

describe("the simulated ledger", () => {
  it("keeps three holdings, the newest first, one a region", () => {
    const ledger = aLedger();
    for (const [atMs, region] of [a, b, a, c, d].entries()) ledger.hold(one, held(region, 100 * atMs, atMs));
    const found = ledger.find(one);
    assert.deepEqual(
      found?.holdings.map(({ region, tokens }) => [region, tokens]),
      [
        [d, 400],
        [c, 300],
        [a, 200],
      ],
    );
    assert.deepEqual([found?.turns, found?.lastTurnAtMs], [5, 4]);
    assert.equal(ledger.find(two), null);
  });

  it("learns from a gateway which replica holds how much, if the conversation is still there", () => {
    const ledger = aLedger();
    const replica = ReplicaId.parse("a:8000/1");
    ledger.hold(one, held(a, 100, 0));
    ledger.measured(one, b, replica, 999);
    ledger.measured(one, a, replica, 150);
    ledger.measured(two, a, replica, 150);
    assert.deepEqual(ledger.find(one)?.holdings, [{ region: a, replica, tokens: 150, atMs: 0 }]);
  });

  it("counts as alive half of what was held within the last second, where it was held last", () => {
    const ledger = aLedger();
    ledger.hold(one, held(a, 1_000, 0));
    ledger.hold(two, held(a, 500, 400));
    const live = (nowMs: number) =>
      Object.fromEntries(ledger.live(nowMs).map(({ region, tokens }) => [region, tokens]));
    assert.deepEqual(live(500), { a: 750 });
    ledger.hold(one, held(b, 1_200, 800));
    assert.deepEqual(live(900), { a: 250, b: 600 });
    ledger.measured(one, b, ReplicaId.parse("b:8000/0"), 1_400);
    assert.deepEqual(live(1_500), { a: 0, b: 700 });
    assert.deepEqual(live(2_000), { a: 0, b: 0 });
  });
});
