/** When a conversation stays, moves, is displaced or placed: the law of moving on numbers that can be checked by hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Candidate, Decision, Verdict } from "#gtm/domain/decision.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import {
  aClient,
  aConversation,
  aPool,
  aQuery,
  aRegion,
  aWorld,
  CONVERSATION,
  decideIn,
  regionId,
} from "#test/support/builders.ts";

const costIn = (decision: Decision, region: string): Candidate["cost"] => {
  const found = decision.considered.find((one) => one.region === region);
  assert.ok(found?.kind === "candidate", `${region} is a candidate`);
  return found.cost;
};

describe("a conversation with 20 000 tokens of context in Frankfurt (4 s to recompute), 1 000 new ones", () => {
  const conversation = aConversation({ home: "frankfurt", contextTokens: 20_000 });
  const query = { promptTokens: 21_000 };
  const policy = { memoryPriceFactor: 0 };

  const cases: readonly { when: string; backlogMs: number; expected: Verdict["kind"] }[] = [
    { when: "Frankfurt is idle", backlogMs: 0, expected: "pinned" },
    { when: "Frankfurt queues 3 s, less than recomputing", backlogMs: 3_000, expected: "pinned" },
    {
      when: "Frankfurt queues 4.5 s, more than recomputing, but by less than a tenth",
      backlogMs: 4_500,
      expected: "pinned",
    },
    { when: "Frankfurt queues 6 s, more than recomputing", backlogMs: 6_000, expected: "migrated" },
  ];
  for (const { when, backlogMs, expected } of cases) {
    it(`is ${expected} when ${when}`, () => {
      const regions = [aRegion("frankfurt", { placement: { backlogMs } }), aRegion("paris")];
      assert.equal(decideIn({ regions, conversation, query, policy }).verdict.kind, expected);
    });
  }

  it("costs 200 ms of prefill at home and 4 000 ms of migration more in Paris", () => {
    const decision = decideIn({ regions: [aRegion("frankfurt"), aRegion("paris")], conversation, query, policy });
    assert.deepEqual(
      { prefillMs: costIn(decision, "frankfurt").prefillMs, migrationMs: costIn(decision, "frankfurt").migrationMs },
      { prefillMs: 200, migrationMs: 0 },
    );
    assert.equal(Math.round(costIn(decision, "paris").migrationMs), 4_000);
  });

  it("says how much a move saves, and the numbers clear the margin", () => {
    const regions = [aRegion("frankfurt", { placement: { backlogMs: 6_000 } }), aRegion("paris")];
    const { verdict, marginMs } = decideIn({ regions, conversation, query, policy });
    assert.ok(verdict.kind === "migrated" && verdict.from === "frankfurt" && verdict.region === "paris");
    assert.ok(verdict.savedMs >= marginMs, `${verdict.savedMs} against ${marginMs}`);
  });

  it("prefers another replica at home, from zero, to waiting 6 s for the one that holds it", () => {
    const busy = aRegion("frankfurt", { placement: { replicaCount: 2 } });
    const [placement] = busy.placements.values();
    assert.ok(placement !== undefined);
    const [holder, free] = placement.replicas;
    assert.ok(holder !== undefined && free !== undefined);
    const replicas = [{ ...holder, backlogMs: 6_000 }, free];
    const home = { ...busy, placements: new Map([[placement.model, { ...placement, replicas }]]) };
    const held = { ...conversation.holdings[0], replica: holder.id };
    const decision = decideIn({ regions: [home], conversation: { ...conversation, holdings: [held] }, query, policy });
    const candidate = decision.considered[0];
    assert.ok(candidate?.kind === "candidate");
    assert.equal(candidate.plan.replica, free.id);
    assert.equal(candidate.plan.holder, null);
    assert.equal(candidate.cost.queueMs, 0);
    assert.equal(candidate.cost.migrationMs, 4_000);
  });

  it("stays while Frankfurt takes no new conversations, and leaves when all are to go", () => {
    const inState = (admin: "drain-new" | "drain-all") =>
      decideIn({ regions: [aRegion("frankfurt", { admin }), aRegion("paris")], conversation, query }).verdict.kind;
    assert.equal(inState("drain-new"), "pinned");
    assert.equal(inState("drain-all"), "displaced");
  });

  it("is displaced when Frankfurt is down, and the record says why", () => {
    const decision = decideIn({
      regions: [aRegion("frankfurt", { health: "unhealthy" }), aRegion("paris")],
      conversation,
      query,
    });
    assert.ok(decision.verdict.kind === "displaced" && decision.verdict.from === "frankfurt");
    assert.deepEqual(decision.considered[0], {
      kind: "excluded",
      region: "frankfurt",
      exclusion: { reason: "down", cause: "probe" },
      reportAgeMs: 500,
    });
  });

  it("is free to move when the engine restarted since: nothing is held any more", () => {
    const home = aRegion("frankfurt", { placement: { backlogMs: 400 } });
    const [placement] = home.placements.values();
    assert.ok(placement !== undefined);
    const replicas = placement.replicas.map((replica) => ({ ...replica, startedAtMs: conversation.lastTurnAtMs + 1 }));
    const restarted = { ...home, placements: new Map([[placement.model, { ...placement, replicas }]]) };
    const decision = decideIn({
      regions: [restarted, aRegion("frankfurt-2", { place: "frankfurt" })],
      conversation,
      query,
    });
    assert.equal(costIn(decision, "frankfurt").migrationMs, 4_000);
  });

  it("inherits nothing for a prompt of 4 tokens: a second 'Hi' is short", () => {
    const { turn } = decideIn({ regions: [aRegion("frankfurt")], conversation, query: { promptTokens: 4 } });
    assert.deepEqual([turn.contextTokens, turn.newTokens], [4, 0]);
  });

  it("is no longer pinned after 15 minutes, but what it holds still counts", () => {
    const idle = aConversation({ home: "frankfurt", contextTokens: 20_000, idleMs: 901_000 });
    const decision = decideIn({ regions: [aRegion("frankfurt"), aRegion("paris")], conversation: idle, query });
    assert.ok(decision.verdict.kind === "placed" && decision.verdict.region === "frankfurt");
    assert.equal(costIn(decision, "frankfurt").migrationMs, 0);
  });
});

describe("a new conversation", () => {
  it("is placed where the first token comes soonest", () => {
    const { verdict } = decideIn({ regions: [aRegion("frankfurt"), aRegion("singapore")], from: "singapore" });
    assert.ok(verdict.kind === "placed" && verdict.region === "singapore" && verdict.runnerUp === "frankfurt");
  });

  it("goes abroad when the queue at home is longer than the way", () => {
    const regions = [aRegion("frankfurt", { placement: { backlogMs: 5_000 } }), aRegion("virginia")];
    const { verdict } = decideIn({ regions, from: "frankfurt" });
    assert.ok(verdict.kind === "placed" && verdict.region === "virginia");
  });

  it("is unserved when no region places the model, and the pool's last resort is answered", () => {
    const regions = [aRegion("frankfurt", { placement: null }), aRegion("paris", { placement: null })];
    const pool = { lastResort: { kind: "regions", order: [regionId("paris")] } } as const;
    const decision = decideIn({ regions, pool });
    assert.equal(decision.verdict.kind, "unserved");
    assert.deepEqual(
      [decision.answeredWith, decision.lastResort],
      ["last-resort", { kind: "regions", order: ["paris"] }],
    );
  });

  it("stays within the jurisdictions of its pool, also for failover", () => {
    const regions = [aRegion("frankfurt", { health: "unhealthy" }), aRegion("virginia", { jurisdiction: "us" })];
    const lastResort = { kind: "regions", order: regions.map((region) => region.id) } as const;
    const decision = decideIn({ regions, pool: { jurisdictions: ["eu"], lastResort } });
    assert.equal(decision.verdict.kind, "unserved");
    assert.deepEqual(decision.lastResort, { kind: "regions", order: ["frankfurt"] });
  });
});

describe("a signed token where the ledger is silent", () => {
  it("names the home, with 4 096 assumed tokens", () => {
    const query = { conversationId: CONVERSATION, pinnedTo: regionId("frankfurt"), promptTokens: 9_000 };
    const { verdict, turn } = decideIn({ regions: [aRegion("frankfurt"), aRegion("paris")], from: "paris", query });
    assert.equal(verdict.kind, "pinned");
    assert.deepEqual([turn.contextTokens, turn.isContextAssumed], [4_096, true]);
  });

  it("is not heard where the ledger speaks", () => {
    const conversation = aConversation({ home: "paris", contextTokens: 8_000 });
    const { turn } = decideIn({
      regions: [aRegion("paris")],
      conversation,
      query: { pinnedTo: regionId("frankfurt") },
    });
    assert.equal(turn.home, "paris");
  });
});

describe("a GTM that has never heard a report", () => {
  const regions = [
    aRegion("frankfurt", { reportAgeMs: null, health: "silent", placement: null }),
    aRegion("paris", { reportAgeMs: null, health: "silent", placement: null }),
  ];
  it("answers where the token points", () => {
    const { verdict } = decideIn({ regions, query: { conversationId: CONVERSATION, pinnedTo: regionId("paris") } });
    assert.deepEqual(verdict, { kind: "pinned", region: "paris", runnerUp: null, leadMs: null });
  });
  it("answers everybody else by rendezvous, whatever the order of its regions", () => {
    const query = { conversationId: CONVERSATION };
    assert.deepEqual(decideIn({ regions, query }).verdict, decideIn({ regions: regions.toReversed(), query }).verdict);
    assert.equal(decideIn({ regions, query }).verdict.kind, "placed");
  });
  it("sends nobody to a region that is ordered down", () => {
    const [frankfurt] = regions;
    assert.ok(frankfurt !== undefined);
    assert.equal(decideIn({ regions: [{ ...frankfurt, admin: "down" }] }).verdict.kind, "unserved");
  });
});

describe("the flow around the decision", () => {
  it("records every answer once, as it was given", async () => {
    const regions = [aRegion("frankfurt")];
    const recorded: Entry[] = [];
    const steer = createSteer(
      {
        world: () => aWorld(regions),
        locate: () => aClient(),
        findConversation: async () => null,
        record: (entry) => recorded.push(entry),
      },
      DEFAULT_POLICY,
    );
    const answer = await steer(aQuery(aPool(regions)), (decision) => decision.verdict);
    assert.deepEqual(answer, { kind: "placed", region: "frankfurt", runnerUp: null, leadMs: null });
    assert.deepEqual(
      recorded.map((entry) => [entry.answer, entry.answered.value]),
      [[answer, 1]],
    );
  });
});
