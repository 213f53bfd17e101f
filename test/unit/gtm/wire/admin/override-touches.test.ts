/** What an override did in the last minute: whom it kept out, told once each, forgotten after a minute. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OverrideRule } from "#gtm/domain/world.ts";
import { createOverrideTouches } from "#gtm/wire/admin/override-touches.ts";
import { ConversationId } from "#shared/ids.ts";
import { aRegion, decideIn } from "#test/support/builders.ts";
import { fakeClock } from "./fake-ports.ts";

const regions = [aRegion("frankfurt"), aRegion("paris")];
const deny: OverrideRule = { id: "o1", kind: "deny", region: "frankfurt", pool: "*", model: "*", tenant: "*" };
const none: OverrideRule = { ...deny, id: "o2", kind: "share", share: 0 };
const named = (at: number) => ({ conversationId: ConversationId.parse(`abcdefgh${String(at).padStart(5, "0")}`) });
const decided = (at: number, overrides: readonly OverrideRule[] = [deny], some = regions) => ({
  decision: decideIn({ regions: some, query: named(at), world: { overrides } }),
});

describe("an override that denies a region", () => {
  it("touches each conversation once, cells and turns without one by themselves, for a minute", () => {
    const clock = fakeClock();
    const touches = createOverrideTouches(clock);
    for (const at of [1, 2, 2, 1]) touches.decided(decided(at));
    touches.decided({ decision: decideIn({ regions, query: { kind: "cell" }, world: { overrides: [deny] } }) });
    const other = { conversations: 2, cells: 1, others: 0, yielded: 0, isComplete: true };
    assert.deepEqual(touches.of("o1"), other);
    clock.pass(30_000);
    touches.decided(decided(2));
    clock.pass(30_000);
    assert.deepEqual(touches.of("o1"), { ...other, conversations: 1, cells: 0 });
    clock.pass(30_000);
    assert.deepEqual(touches.of("o1"), { ...other, conversations: 0, cells: 0 });
  });
  it("touches nobody whom it does not concern", () => {
    const touches = createOverrideTouches(fakeClock());
    touches.decided(decided(1, [{ ...deny, tenant: "acme" }]));
    assert.equal(touches.of("o1").conversations, 0);
  });
  it("says that there were more than 10 000", () => {
    const touches = createOverrideTouches(fakeClock());
    const { decision } = decided(1);
    for (let at = 0; at <= 10_000; at++) {
      touches.decided({ decision: { ...decision, turn: { ...decision.turn, hashKey: String(at) } } });
    }
    assert.deepEqual([touches.of("o1").conversations, touches.of("o1").isComplete], [10_000, false]);
  });
});

describe("a share of nothing", () => {
  it("counts whom it kept out, and whom it let in where there was no other region", () => {
    const touches = createOverrideTouches(fakeClock());
    touches.decided(decided(1, [none]));
    touches.decided(decided(2, [none], [aRegion("frankfurt")]));
    assert.deepEqual([touches.of("o2").conversations, touches.of("o2").yielded], [2, 1]);
  });
});
