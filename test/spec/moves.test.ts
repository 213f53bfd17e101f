/** A conversation that somebody ordered to another region, decided as every turn is. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { afterTurn, settledWith } from "#gtm/domain/conversation-ledger.ts";
import { movedTo } from "#gtm/domain/conversation-move.ts";
import { explain } from "#gtm/steering/explain.ts";
import { bornOf } from "#gtm/steering/parent.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { ConversationId } from "#shared/ids.ts";
import { aConversation, aPool, aQuery, aRegion, decideIn, MODEL, NOW_MS, regionId } from "#test/support/builders.ts";

const KEPT_MS = 3_600_000;
const regions = [aRegion("frankfurt"), aRegion("paris")];
const query = aQuery(aPool(regions), { promptTokens: 20_100 });
const held = aConversation({ home: "frankfurt", contextTokens: 20_000 });
const moved = movedTo(held, regionId("paris"));

describe("a conversation of 20 000 tokens in Frankfurt that somebody orders to Paris, which holds none of it", () => {
  it("would have stayed, since moving costs 4 s", () => {
    assert.equal(decideIn({ regions, conversation: held, query }).verdict.kind, "pinned");
  });
  it("goes to Paris with its next turn, and the decision says why", () => {
    const decision = decideIn({ regions, conversation: moved, query });
    assert.deepEqual(
      [decision.verdict.kind, "region" in decision.verdict && decision.verdict.region],
      ["pinned", "paris"],
    );
    const { explanation, flipsIf } = explain(decision, DEFAULT_POLICY);
    assert.match(explanation, /^Goes to paris, where somebody ordered it moved\. frankfurt would cost .* less\.$/);
    assert.equal(flipsIf, null);
  });
  it("goes there also where its pin has run out", () => {
    const idle = aConversation({ home: "frankfurt", contextTokens: 20_000, idleMs: DEFAULT_POLICY.pinMs + 60_000 });
    const { verdict } = decideIn({ regions, conversation: movedTo(idle, regionId("paris")), query });
    assert.equal("region" in verdict && verdict.region, "paris");
  });
  it("goes elsewhere where Paris may not serve it", () => {
    const { verdict } = decideIn({
      regions: [aRegion("frankfurt"), aRegion("paris", { admin: "drain-all" })],
      conversation: moved,
      query,
    });
    assert.deepEqual([verdict.kind, "region" in verdict && verdict.region], ["displaced", "frankfurt"]);
  });
  it("is decided by its costs again once it had its turn there", () => {
    const turn = { id: held.id, model: MODEL, region: regionId("paris"), tokens: 20_500, atMs: NOW_MS };
    const after = afterTurn(moved, turn, KEPT_MS);
    assert.equal(after.isHomeOrdered, undefined);
    const later = { ...query, receivedAtMs: NOW_MS + 10_000 };
    assert.equal(decideIn({ regions, conversation: after, query: later }).verdict.kind, "pinned");
    const busy = [aRegion("frankfurt"), aRegion("paris", { placement: { backlogMs: 60_000 } })];
    assert.equal(decideIn({ regions: busy, conversation: after, query: later }).verdict.kind, "migrated");
  });
  it("is no order about what begins from it", () => {
    const child = bornOf(moved, ConversationId.parse("0000000000001"), 20_000);
    assert.equal(child.isHomeOrdered, undefined);
  });
});

describe("two GTMs of which one does not know of the order yet", () => {
  it("keep it where a turn was decided before it", () => {
    const merged = settledWith(
      moved,
      { ...held, turns: held.turns + 1, lastTurnAtMs: held.lastTurnAtMs + 200 },
      KEPT_MS,
    );
    assert.deepEqual([merged.holdings[0].region, merged.isHomeOrdered], ["paris", true]);
  });
  it("let it go once a turn was served there", () => {
    const turn = { id: held.id, model: MODEL, region: regionId("paris"), tokens: 20_500, atMs: NOW_MS };
    const merged = settledWith(moved, afterTurn(moved, turn, KEPT_MS), KEPT_MS);
    assert.deepEqual([merged.holdings[0].region, merged.isHomeOrdered], ["paris", undefined]);
  });
});
