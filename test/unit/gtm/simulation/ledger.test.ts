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
const sent = (id: ConversationId, region: RegionId, tokens: number, atMs: number) => ({
  id,
  model,
  region,
  tokens,
  atMs,
});

describe("the simulated ledger", () => {
  it("keeps three holdings, the newest first, one a region", () => {
    const ledger = createLedger();
    for (const [atMs, region] of [a, b, a, c, d].entries()) ledger.commit(sent(one, region, 100 * atMs, atMs));
    const found = ledger.find(one, 5);
    assert.deepEqual(
      found?.holdings.map(({ region, tokens }) => [region, tokens]),
      [
        [d, 400],
        [c, 300],
        [a, 200],
      ],
    );
    assert.deepEqual([found?.turns, found?.lastTurnAtMs], [5, 4]);
    assert.equal(ledger.find(two, 5), null);
  });

  it("learns from a gateway which replica holds how much, if the conversation is still there", () => {
    const ledger = createLedger();
    const replica = ReplicaId.parse("a:8000/1");
    ledger.commit(sent(one, a, 100, 0));
    assert.equal(ledger.measured(one, b, replica, 999), null);
    assert.equal(ledger.measured(two, a, replica, 150), null);
    const after = ledger.measured(one, a, replica, 150);
    assert.deepEqual(after?.holdings, [{ region: a, replica, tokens: 150, atMs: 0 }]);
    assert.deepEqual(ledger.find(one, 1), after);
  });

  it("forgets a conversation an hour after its last turn", () => {
    const ledger = createLedger();
    ledger.commit(sent(one, a, 100, 0));
    assert.notEqual(ledger.find(one, 3_599_999), null);
    assert.equal(ledger.find(one, 3_600_000), null);
  });
});
