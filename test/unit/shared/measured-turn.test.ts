import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MeasuredTurn, MOST_TURNS, TurnBatch } from "#shared/measured-turn.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";

const turn = aMeasuredTurn({});

describe("a measured turn", () => {
  const refused: readonly (readonly [string, object])[] = [
    ["negative tokens", { promptTokens: -1 }],
    ["a third of a token", { cachedTokens: 0.33 }],
    ["a negative time", { ttftMs: -1 }],
    ["an outcome that is none", { outcome: "fine" }],
    ["a whole sentence as conversation", { conversation: "hello there" }],
    ["another version", { v: 2 }],
  ];
  for (const [what, change] of refused) {
    it(`is refused with ${what}`, () => assert.equal(MeasuredTurn.safeParse({ ...turn, ...change }).success, false));
  }
  it("may know nothing but where, which model and how it ended", () => {
    const nothing = Object.fromEntries(Object.keys(turn).map((key) => [key, null]));
    const bare = { ...nothing, v: 1, region: "paris", model: "m", outcome: "refused", atAgeMs: 0 };
    assert.equal(
      MeasuredTurn.safeParse({ ...bare, isCompletionEstimated: undefined }).data?.isCompletionEstimated,
      false,
    );
  });
  it("keeps what a later version adds", () => {
    assert.equal(MeasuredTurn.parse({ ...turn, later: 1 })["later"], 1);
  });
});

describe("a batch of turns", () => {
  const batch = { v: 1, region: "paris", gateway: "gw-1", boot: "b1", seq: 1 };
  it(`holds ${MOST_TURNS} and no more`, () => {
    const of = (count: number) => TurnBatch.safeParse({ ...batch, turns: Array(count).fill(turn) }).success;
    assert.deepEqual([of(MOST_TURNS), of(MOST_TURNS + 1)], [true, false]);
  });
});
