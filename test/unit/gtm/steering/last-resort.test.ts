/** Where turns go while no region has reported yet. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aConversation, aRegion, decideIn, regionId } from "#test/support/builders.ts";

const unheard = ["frankfurt", "virginia"].map((name) => aRegion(name, { reportAgeMs: null, placement: null }));
const verdictWhere = (...refusedBy: readonly string[]) => {
  const conversation = aConversation({ home: "frankfurt", contextTokens: 1_000, refusedBy: refusedBy.map(regionId) });
  const { verdict } = decideIn({ regions: unheard, conversation });
  return "region" in verdict ? `${verdict.kind} in ${verdict.region}` : verdict.kind;
};

describe("a conversation of a GTM that has heard of no region", () => {
  it("stays at home", () => assert.equal(verdictWhere(), "pinned in frankfurt"));
  it("goes where no gateway has refused it", () => assert.equal(verdictWhere("frankfurt"), "placed in virginia"));
  it("stays where every gateway has", () => assert.equal(verdictWhere("frankfurt", "virginia"), "pinned in frankfurt"));
});
