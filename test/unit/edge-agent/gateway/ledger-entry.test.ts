import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { afterMeasured, bothMeasured } from "#edge-agent/gateway/ledger-entry.ts";
import type { RecordedConversation, RecordedHolding, Unpacked } from "#shared/conversation-record.ts";
import type { ModelId, RegionId, ReplicaId } from "#shared/ids.ts";
import { aMeasured } from "#test/support/measured-conversations.ts";

const KEPT_MS = 3_600_000;
const holding = (region: string, atMs: number, change: Partial<RecordedHolding> = {}): RecordedHolding => ({
  ...{ region: region as RegionId, replica: null, tokens: 4_000, atMs },
  ...change,
});
/** As a front wrote it. */
const stored = (holdings: RecordedConversation["holdings"], change: Partial<RecordedConversation> = {}): Unpacked => ({
  conversation: {
    ...{ id: aMeasured().id, model: aMeasured().model, holdings, turns: 3, rev: 5, refusedBy: [] },
    lastTurnAtMs: holdings[0].atMs,
    ...change,
  },
  owner: { tenantTag: 1, poolTag: 2 },
});
const regionsOf = ({ conversation }: Unpacked) => conversation.holdings.map(({ region }) => region);

describe("a label that nobody has used", () => {
  it("gets its entry by the first measured turn, with the replica and the tokens that are really there", () => {
    const { conversation, owner } = afterMeasured(null, aMeasured(), KEPT_MS);
    assert.deepEqual(conversation.holdings, [
      { region: "paris", replica: "192.0.2.10:8000/0", tokens: 5_000, atMs: 100_000 },
    ]);
    assert.deepEqual([conversation.turns, conversation.rev, owner], [1, 0, { tenantTag: 7, poolTag: 9 }]);
  });
});

describe("a turn that a front sent here", () => {
  it("has the measured tokens in place of the expected ones, and is not counted twice", () => {
    const before = stored([holding("paris", 99_900), holding("london", 50_000)]);
    const { conversation, owner } = afterMeasured(before, aMeasured({ turns: 0 }), KEPT_MS);
    assert.deepEqual(
      conversation.holdings[0],
      holding("paris", 100_000, { tokens: 5_000, replica: aMeasured().replica }),
    );
    assert.deepEqual([conversation.turns, conversation.rev, owner], [3, 5, { tenantTag: 1, poolTag: 2 }]);
    assert.deepEqual(regionsOf(afterMeasured(before, aMeasured(), KEPT_MS)), ["paris", "london"]);
  });
  it("is believed although each rewriting makes the front's word seem up to a second newer", () => {
    const after = afterMeasured(stored([holding("paris", 102_900)]), aMeasured(), KEPT_MS);
    assert.equal(after.conversation.holdings[0].tokens, 5_000);
  });
  it("by its pin alone, without a decision, is not counted twice either", () => {
    assert.equal(afterMeasured(stored([holding("paris", 99_000)]), aMeasured(), KEPT_MS).conversation.turns, 3);
    const measuredBefore = stored([holding("paris", 99_000, { replica: "other/0" as ReplicaId })]);
    assert.equal(afterMeasured(measuredBefore, aMeasured(), KEPT_MS).conversation.turns, 4);
  });
});

describe("a turn that is measured late", () => {
  it("does not take the home back from where a later turn was sent", () => {
    const after = afterMeasured(stored([holding("london", 130_000), holding("paris", 99_000)]), aMeasured(), KEPT_MS);
    assert.deepEqual(regionsOf(after), ["london", "paris"]);
    assert.equal(after.conversation.holdings[1]?.tokens, 5_000);
    assert.equal(after.conversation.lastTurnAtMs, 130_000);
  });
  it("does not undo what a later turn here will have measured itself", () => {
    const later = holding("paris", 130_000, { tokens: 6_000 });
    assert.deepEqual(afterMeasured(stored([later]), aMeasured(), KEPT_MS).conversation.holdings, [later]);
  });
});

describe("turns in parallel, less than a second apart", () => {
  it("keep the home where it was", () => {
    const after = afterMeasured(stored([holding("london", 99_500), holding("paris", 99_400)]), aMeasured(), KEPT_MS);
    assert.deepEqual(regionsOf(after), ["london", "paris"]);
  });
  it("move it where a second lies between", () => {
    const after = afterMeasured(stored([holding("london", 98_900)]), aMeasured(), KEPT_MS);
    assert.deepEqual(regionsOf(after), ["paris", "london"]);
  });
  it("wait as one correction: the newer one's tokens, all turns", () => {
    const both = bothMeasured(aMeasured({ tokens: 6_000, atMs: 101_000 }), aMeasured());
    assert.deepEqual([both.tokens, both.atMs, both.turns], [6_000, 101_000, 2]);
  });
});

describe("an entry", () => {
  it("holds three regions at most, and none that an hour has passed over", () => {
    const four = stored([holding("a", 99_000), holding("b", 98_000), holding("c", 97_000)]);
    assert.deepEqual(regionsOf(afterMeasured(four, aMeasured(), KEPT_MS)), ["paris", "a", "b"]);
    const old = stored([holding("a", 100_000 - KEPT_MS)]);
    assert.deepEqual(regionsOf(afterMeasured(old, aMeasured(), KEPT_MS)), ["paris"]);
  });
  it("of another model is void, unless it is the same by another name", () => {
    const other = stored([holding("london", 90_000)], { model: "model-b" as ModelId });
    assert.deepEqual(regionsOf(afterMeasured(other, aMeasured(), KEPT_MS)), ["paris"]);
    const same = afterMeasured(other, aMeasured({ isSameModel: (model) => model === "model-b" }), KEPT_MS);
    assert.deepEqual([regionsOf(same), same.conversation.model], [["paris", "london"], "model-b"]);
  });
});

describe("a conversation that somebody ordered elsewhere while a turn was under way here", () => {
  it("keeps the order, and is done with it once its home has measured a turn", () => {
    const ordered = { isHomeOrdered: true as const };
    const away = stored([holding("london", 99_500), holding("paris", 99_400)], ordered);
    const kept = afterMeasured(away, aMeasured(), KEPT_MS).conversation;
    assert.deepEqual([kept.holdings[0].region, kept.isHomeOrdered], ["london", true]);
    const here = stored([holding("paris", 99_500), holding("london", 99_400)], ordered);
    assert.equal(afterMeasured(here, aMeasured(), KEPT_MS).conversation.isHomeOrdered, undefined);
  });
});
