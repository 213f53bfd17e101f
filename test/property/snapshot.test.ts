/** Whatever the world, a snapshot of it decides as it did, to the last bit. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decisionView } from "#gtm/steering/decision-view.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { type Facts, factsJson, factsOf } from "#gtm/wire/admin/snapshot.ts";
import { decideAgain, NO_CHANGES } from "#gtm/wire/admin/snapshot-decision.ts";
import { situation } from "#test/support/arbitraries.ts";
import { aClient, aPool, aQuery, aWorld, decideIn, NOW_MS, type Situation } from "#test/support/builders.ts";

const factsIn = (one: Situation): Facts => {
  const { regions, conversation = null, from = "frankfurt" } = one;
  const pool = aPool(regions, one.pool);
  return {
    query: aQuery(pool, { conversationId: conversation?.id ?? null, ...one.query }),
    world: aWorld(regions, one.world),
    policy: { ...DEFAULT_POLICY, ...one.policy },
    pools: [pool],
    models: [],
    client: aClient(from, one.client),
    conversation,
    refusedBy: conversation?.refusedBy ?? [],
  };
};

describe("a snapshot", () => {
  it("decides as the world that it is of", async () => {
    await fc.assert(
      fc.asyncProperty(situation, async (one) => {
        const facts = factsIn(one);
        const decision = decideIn(one);
        const entry = { query: facts.query, decision, answer: null, answered: { value: 0 } };
        const view = decisionView(entry, facts.policy, (atMs) => atMs - NOW_MS);
        const read = factsOf(JSON.parse(JSON.stringify(factsJson(facts))));
        assert.deepEqual(await decideAgain(read, 0, NO_CHANGES), view);
      }),
      { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 300) },
    );
  });
  it("of before says by the conversation alone who refuses it", async () => {
    await fc.assert(
      fc.asyncProperty(situation, async (one) => {
        const facts = factsIn(one);
        const { refusedBy: _, ...before } = factsJson(facts);
        const read = factsOf(JSON.parse(JSON.stringify(before)));
        assert.deepEqual(await decideAgain(read, 0, NO_CHANGES), await decideAgain(facts, 0, NO_CHANGES));
      }),
    );
  });
});
