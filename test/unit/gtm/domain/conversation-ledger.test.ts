/** Which regions hold a conversation after a turn, and after two GTMs wrote at once. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { afterTurn, keptAt, mergedWith, type ServedTurn } from "#gtm/domain/conversation-ledger.ts";
import { ModelId } from "#shared/ids.ts";
import { CONVERSATION, MODEL, NOW_MS, regionId } from "#test/support/builders.ts";

const HOUR_MS = 3_600_000;
const turn = (region: string, atMs: number, tokens = 1_000): ServedTurn => ({
  ...{ id: CONVERSATION, model: MODEL, region: regionId(region), tokens, atMs: NOW_MS + atMs },
});
/** The conversation that these turns leave, committed in this order. */
const after = (...turns: readonly ServedTurn[]): Conversation => {
  const left = turns.reduce<Conversation | null>((before, one) => afterTurn(before, one, HOUR_MS), null);
  assert.ok(left);
  return left;
};
const holdings = ({ holdings: list }: Conversation) => list.map(({ region, tokens }) => `${region} ${tokens}`);

describe("a conversation's first turn", () => {
  it("makes a ledger of one holding, which is not in the store yet", () => {
    const conversation = after(turn("frankfurt", 0, 1_100.4));
    assert.deepEqual(holdings(conversation), ["frankfurt 1100"]);
    assert.deepEqual([conversation.turns, conversation.rev, conversation.lastTurnAtMs], [1, 0, NOW_MS]);
    assert.equal(conversation.holdings[0].replica, null);
  });
});

describe("a later turn", () => {
  it("at home replaces what home held, also by less: a shorter prompt builds on less", () => {
    assert.deepEqual(holdings(after(turn("frankfurt", 0, 9_000), turn("frankfurt", 1, 500))), ["frankfurt 500"]);
  });
  it("elsewhere moves home there and leaves the old holding behind", () => {
    assert.deepEqual(holdings(after(turn("frankfurt", 0), turn("paris", 1, 2_000))), ["paris 2000", "frankfurt 1000"]);
  });
  it("keeps three holdings, the newest", () => {
    const places = ["frankfurt", "paris", "virginia", "singapore"];
    assert.deepEqual(holdings(after(...places.map((place, at) => turn(place, at)))), [
      "singapore 1000",
      "virginia 1000",
      "paris 1000",
    ]);
  });
  it("drops holdings an hour old", () => {
    assert.deepEqual(holdings(after(turn("frankfurt", 0), turn("paris", HOUR_MS))), ["paris 1000"]);
    assert.equal(after(turn("frankfurt", 0), turn("paris", HOUR_MS - 1)).holdings.length, 2);
  });
  it("of another model finds the ledger void, upon the revision that the store has", () => {
    const other = { ...turn("paris", 1), model: ModelId.parse("other") };
    const conversation = afterTurn({ ...after(turn("frankfurt", 0)), rev: 4 }, other, HOUR_MS);
    assert.deepEqual([holdings(conversation), conversation.turns, conversation.rev], [["paris 1000"], 1, 4]);
  });
});

describe("turns in parallel", () => {
  it("keep the home where the older is committed last", () => {
    const conversation = after(turn("frankfurt", 5), turn("paris", 2));
    assert.deepEqual(holdings(conversation), ["frankfurt 1000", "paris 1000"]);
    assert.equal(conversation.lastTurnAtMs, NOW_MS + 5);
    assert.equal(conversation.turns, 2);
  });
  it("keep the home where both happened at the same moment", () => {
    assert.deepEqual(holdings(after(turn("frankfurt", 5), turn("paris", 5)))[0], "frankfurt 1000");
  });
});

describe("what two GTMs know", () => {
  const stored = { ...after(turn("frankfurt", 0)), rev: 7 };
  it("is joined, the newest home wins, and the stored revision is built upon", () => {
    const joined = mergedWith(stored, { ...after(turn("paris", 3)), rev: 6 }, HOUR_MS);
    assert.deepEqual([holdings(joined), joined.rev], [["paris 1000", "frankfurt 1000"], 7]);
  });
  it("keeps the stored home where mine is not newer", () => {
    assert.equal(mergedWith(stored, after(turn("paris", 0)), HOUR_MS).holdings[0].region, "frankfurt");
    assert.equal(mergedWith(stored, after(turn("paris", -9)), HOUR_MS).holdings[0].region, "frankfurt");
  });
  it("is the newer one's alone where the models differ", () => {
    const other = { ...after(turn("paris", 3)), model: ModelId.parse("other") };
    assert.deepEqual(holdings(mergedWith(stored, other, HOUR_MS)), ["paris 1000"]);
    assert.equal(mergedWith(stored, other, HOUR_MS).rev, 7);
    assert.equal(mergedWith(stored, { ...other, lastTurnAtMs: NOW_MS - 1 }, HOUR_MS), stored);
  });
});

describe("what is left of a ledger", () => {
  const conversation = after(turn("frankfurt", 0), turn("paris", 1_000));
  it("is all of it within the hour", () =>
    assert.equal(keptAt(conversation, NOW_MS + HOUR_MS - 1, HOUR_MS), conversation));
  it("is the newer part once the older is an hour old", () => {
    assert.deepEqual(
      keptAt(conversation, NOW_MS + HOUR_MS, HOUR_MS)?.holdings.map(({ region }) => region),
      ["paris"],
    );
  });
  it("is nothing in the end", () => assert.equal(keptAt(conversation, NOW_MS + HOUR_MS + 1_000, HOUR_MS), null));
});
