/** What a person reads of a decision. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { explain } from "#gtm/steering/explain.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { formatMs, formatTokens } from "#gtm/steering/quantity-text.ts";
import { aConversation, aRegion, decideIn, type Situation } from "#test/support/builders.ts";

const told = (situation: Situation) => explain(decideIn(situation), DEFAULT_POLICY);
const conversation = aConversation({ home: "frankfurt", contextTokens: 18_432 });
const query = { promptTokens: 18_943 };

describe("the explanation", () => {
  it("of a pinned turn says what is held and what leaving would cost", () => {
    assert.deepEqual(told({ regions: [aRegion("frankfurt"), aRegion("paris")], conversation, query }), {
      explanation:
        "Stays in frankfurt, which holds 18 432 tokens of it. paris would cost 3.78 s more, nearly all of it recomputing.",
      flipsIf: "frankfurt's queue grew by 4.22 s",
    });
  });

  it("of a migrated turn says what is saved and why home is dear", () => {
    const regions = [aRegion("frankfurt", { placement: { backlogMs: 8_000 } }), aRegion("paris")];
    const { explanation, flipsIf } = told({ regions, conversation, query });
    assert.match(
      explanation,
      /^Moves from frankfurt to paris, which saves 4\.\d\d s, more than the margin of 8\d\d ms: queueing would take 7\.9\d s in frankfurt\.$/,
    );
    assert.match(flipsIf ?? "", /^frankfurt's queue were 3\.\d\d s shorter$/);
  });

  it("of a displaced turn says what is wrong at home", () => {
    const regions = [aRegion("frankfurt", { admin: "drain-all" }), aRegion("paris")];
    assert.deepEqual(told({ regions, conversation, query }), {
      explanation: "Leaves frankfurt for paris, because frankfurt is being drained.",
      flipsIf: "frankfurt could serve again; it is being drained",
    });
  });

  it("of an unserved turn names every region's reason", () => {
    const regions = [aRegion("frankfurt", { health: "unhealthy" }), aRegion("paris", { reportAgeMs: 42_000 })];
    assert.equal(
      told({ regions }).explanation,
      "No region can serve: frankfurt does not answer its probe; paris last reported 42.00 s ago.",
    );
  });

  it("of a pin kept by the margin alone says so", () => {
    const regions = [aRegion("frankfurt", { placement: { backlogMs: 4_050 } }), aRegion("paris")];
    assert.match(
      told({ regions, conversation, query }).explanation,
      /paris would cost \d+ ms less, under the margin of \d+ ms\.$/,
    );
  });
});

describe("numbers for people", () => {
  it("are milliseconds below a second and seconds above", () => {
    assert.deepEqual([0, 80.4, 999, 1_240].map(formatMs), ["0 ms", "80 ms", "999 ms", "1.24 s"]);
  });
  it("have their thousands apart", () => {
    assert.deepEqual([4, 1_234, 18_432, 1_234_567].map(formatTokens), [
      "4 tokens",
      "1 234 tokens",
      "18 432 tokens",
      "1 234 567 tokens",
    ]);
  });
});
