/** What a conversation that another one spawned begins with: its parent's holdings, priced like its own, and no home. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { afterTurn } from "#gtm/domain/conversation-ledger.ts";
import type { Candidate, Decision } from "#gtm/domain/decision.ts";
import { decisionView } from "#gtm/steering/decision-view.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry, Query } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { ConversationId, ModelId } from "#shared/ids.ts";
import {
  aClient,
  aConversation,
  aPool,
  aQuery,
  aRegion,
  aWorld,
  CONVERSATION,
  NOW_MS,
  type RegionWish,
} from "#test/support/builders.ts";

const CHILD = ConversationId.parse("0123456789abc");
const parent = aConversation({ home: "paris", contextTokens: 20_000, idleMs: 1_000 });

type Wish = {
  readonly known?: readonly Conversation[];
  readonly query?: Partial<Query>;
  readonly paris?: RegionWish;
};
/** The client is in Frankfurt, so that nothing but the parent speaks for Paris. */
const entryOf = async ({ known = [parent], query = {}, paris = {} }: Wish = {}): Promise<Entry> => {
  const regions = [aRegion("frankfurt"), aRegion("paris", paris)];
  const entries: Entry[] = [];
  const steer = createSteer(
    {
      world: () => aWorld(regions),
      locate: () => aClient("frankfurt"),
      findConversation: async (id) => known.find((one) => one.id === id) ?? null,
      record: (entry) => void entries.push(entry),
    },
    DEFAULT_POLICY,
  );
  const asked = { conversationId: CHILD, parentId: CONVERSATION, promptTokens: 21_000, ...query };
  await steer(aQuery(aPool(regions), asked), () => null);
  const [entry] = entries;
  assert.ok(entry !== undefined);
  return entry;
};
const candidateIn = ({ considered }: Decision, region: string): Candidate => {
  const found = considered.find((one) => one.region === region);
  assert.ok(found?.kind === "candidate");
  return found;
};

describe("the first turn of a conversation whose parent has 20 000 tokens in Paris (4 s to recompute)", () => {
  it("is placed in Paris, where 1 000 tokens are left to compute", async () => {
    const { decision } = await entryOf();
    assert.deepEqual(
      [decision.verdict.kind, "region" in decision.verdict && decision.verdict.region],
      ["placed", "paris"],
    );
    const { cost, plan } = candidateIn(decision, "paris");
    assert.deepEqual([cost.prefillMs, cost.migrationMs, plan.heldTokens], [200, 0, 20_000]);
    assert.equal(Math.round(candidateIn(decision, "frankfurt").cost.migrationMs), 4_000);
  });
  it("would start near its client without one", async () => {
    const { decision } = await entryOf({ query: { parentId: null } });
    assert.equal("region" in decision.verdict && decision.verdict.region, "frankfurt");
  });
  it("says so in its record", async () => {
    const entry = await entryOf();
    const view = decisionView(entry, DEFAULT_POLICY, () => 0);
    assert.deepEqual(
      [
        view.conversation?.parentId,
        view.conversation?.home,
        view.conversation?.turns,
        view.conversation?.contextTokens,
      ],
      [CONVERSATION, null, 0, 20_000],
    );
    assert.match(view.explanation, /^It begins with 20 000 tokens of its parent's and starts in paris/);
  });
  it("goes elsewhere when waiting in Paris costs more than computing all of it, and that is no migration", async () => {
    const { decision } = await entryOf({ paris: { placement: { backlogMs: 9_000 } } });
    assert.deepEqual(
      [decision.verdict.kind, "region" in decision.verdict && decision.verdict.region],
      ["placed", "frankfurt"],
    );
  });
  it("inherits no more than its prompt repeats", async () => {
    const { decision } = await entryOf({ query: { promptTokens: 500 } });
    assert.deepEqual([decision.turn.contextTokens, decision.turn.newTokens], [500, 0]);
  });
  it("is a new conversation to a region that drains softly", async () => {
    const { decision } = await entryOf({ paris: { admin: "drain-new" } });
    const paris = decision.considered.find(({ region }) => region === "paris");
    assert.deepEqual(paris?.kind === "excluded" && paris.exclusion, { reason: "draining", admin: "drain-new" });
  });
  it("is not kept out by what refused its parent", async () => {
    const { decision } = await entryOf({ known: [{ ...parent, refusedBy: [parent.holdings[0].region] }] });
    assert.equal("region" in decision.verdict && decision.verdict.region, "paris");
  });
  it("leaves a ledger of its own, which nothing in the store stands against", async () => {
    const { decision } = await entryOf();
    const served = {
      id: CHILD,
      model: decision.turn.model,
      region: parent.holdings[0].region,
      tokens: 21_100,
      atMs: NOW_MS,
    };
    const ledger = afterTurn(decision.turn.conversation, served, 3_600_000);
    assert.deepEqual([ledger.id, ledger.rev, ledger.turns, ledger.holdings.length], [CHILD, 0, 1, 1]);
  });
});

describe("a parent is not heard", () => {
  const cases: readonly { when: string; wish: Wish }[] = [
    { when: "it is not known", wish: { known: [] } },
    { when: "it used another model", wish: { known: [{ ...parent, model: ModelId.parse("another") }] } },
    { when: "it is the conversation itself", wish: { known: [], query: { parentId: CHILD } } },
    { when: "the turn has no conversation", wish: { query: { conversationId: null } } },
    {
      when: "the child is known",
      wish: { known: [parent, { ...aConversation({ home: "frankfurt", contextTokens: 9_000 }), id: CHILD }] },
    },
  ];
  for (const { when, wish } of cases) {
    it(`when ${when}`, async () => {
      const { decision } = await entryOf(wish);
      assert.equal(decision.turn.parentId, null);
      assert.equal("region" in decision.verdict && decision.verdict.region, "frankfurt");
    });
  }
});
