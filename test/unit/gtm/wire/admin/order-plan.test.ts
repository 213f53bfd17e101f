/** What an order would change, found by the code that decides. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdminState } from "#gtm/domain/region.ts";
import type { Pacing } from "#gtm/wire/admin/drain-pacing.ts";
import { planOrder } from "#gtm/wire/admin/order-plan.ts";
import { ConversationId } from "#shared/ids.ts";
import { aConversation, aRegion, CONVERSATION, regionId } from "#test/support/builders.ts";
import { decisionId, type FakeGtm, fakeGtm } from "./fake-ports.ts";

const plan = async (
  gtm: FakeGtm,
  region: string,
  to: AdminState,
  from: AdminState = "active",
  pacing: Pacing = null,
) => {
  const order = {
    region: regionId(region),
    from,
    action: { to, comment: "x", forMs: 7_200_000, pacing },
    actor: "ops",
    expiresAtMs: gtm.clock.epochMs() + 7_200_000,
    etag: '"active-0"',
    seenAtMs: 0,
    planId: "p1",
    startsAtMs: gtm.clock.epochMs(),
    at: { nowMs: gtm.clock.monotonicMs(), id: decisionId(0) },
  };
  const planned = await planOrder(gtm.ports, order, null);
  return planned.plan;
};
const conversation = (at: number, wish: Parameters<typeof aConversation>[0]) => ({
  ...aConversation(wish),
  id: ConversationId.parse(`abcdefgh${String(at).padStart(5, "0")}`),
});

describe("the plan of a drain-all of the home of one conversation of 20 000 tokens, 5 000 tokens/s elsewhere", () => {
  it("moves it, and says what its next turn computes again", async () => {
    const found = await plan(fakeGtm(), "frankfurt", "drain-all");
    assert.deepEqual(found.nextTurns, [
      { region: "frankfurt", before: 1, after: 0 },
      { region: "paris", before: 0, after: 1 },
    ]);
    assert.deepEqual(found.recompute, { beforeTokens: 0, afterTokens: 20_000, beforeMs: 0, afterMs: 4_000 });
    assert.deepEqual([found.from, found.to, found.changes], ["active", "drain-all", true]);
    assert.deepEqual([found.expiresAt, found.expiresInMs], ["2026-11-30T06:00:00.000Z", 7_200_000]);
    assert.equal(found.resolvers.lingerSeconds, 20);
    assert.deepEqual(found.violations, []);
  });
  it("changes nothing", async () => {
    const gtm = fakeGtm();
    const { world, orders } = gtm.state;
    await plan(gtm, "frankfurt", "drain-all");
    assert.equal(gtm.state.world, world);
    assert.equal(gtm.state.orders, orders);
    assert.deepEqual(gtm.state.entries, []);
  });
});

describe("the plan of a drain-new", () => {
  it("leaves the conversations that are at home there", async () => {
    const found = await plan(fakeGtm(), "frankfurt", "drain-new");
    assert.deepEqual(found.nextTurns, [{ region: "frankfurt", before: 1, after: 1 }]);
    assert.equal(found.recompute.afterTokens, 0);
    assert.match(found.resolvers.note, /Names of conversations at home here keep pointing here/);
  });
});

describe("the conversations that a plan counts", () => {
  it("are those at home in the region, pinned within 900 s of their last turn", async () => {
    const gtm = fakeGtm({
      conversations: [
        conversation(1, { home: "frankfurt", contextTokens: 10_000, idleMs: 899_000 }),
        conversation(2, { home: "frankfurt", contextTokens: 10_000, idleMs: 901_000 }),
        conversation(3, { home: "paris", contextTokens: 10_000 }),
      ],
    });
    const { conversations } = await plan(gtm, "frankfurt", "drain-all");
    assert.deepEqual(conversations, { home: 2, isComplete: true, pinned: 1, hot: 0, idle: 1, located: 0 });
  });
  it("are located by the last decision about each", async () => {
    const gtm = fakeGtm();
    gtm.decide({ conversationId: CONVERSATION });
    assert.equal((await plan(gtm, "frankfurt", "drain-all")).conversations.located, 1);
  });
  it("are 2 000 at most, and then it says that there are more", async () => {
    const many = Array.from({ length: 2_600 }, (_, at) => conversation(at, { home: "frankfurt", contextTokens: 100 }));
    const { conversations, nextTurns } = await plan(fakeGtm({ conversations: many }), "frankfurt", "down");
    assert.deepEqual([conversations.home, conversations.isComplete], [2_000, false]);
    assert.deepEqual(nextTurns, [
      { region: "frankfurt", before: 2_000, after: 0 },
      { region: "paris", before: 0, after: 2_000 },
    ]);
  });
  it("go nowhere where no region is left", async () => {
    const gtm = fakeGtm({ regions: [aRegion("frankfurt")] });
    assert.deepEqual((await plan(gtm, "frankfurt", "down")).nextTurns, [
      { region: null, before: 0, after: 1 },
      { region: "frankfurt", before: 1, after: 0 },
    ]);
  });
});

describe("the models that a plan names", () => {
  it("have no region any more where the last one goes, which a safety rule forbids", async () => {
    for (const to of ["drain-new", "drain-all", "down"] as const) {
      const found = await plan(
        fakeGtm({ regions: [aRegion("frankfurt"), aRegion("paris", { placement: null })] }),
        "frankfurt",
        to,
      );
      assert.deepEqual(found.modelsWithoutRegion, [{ pool: "chat", model: "llama-70b" }]);
      assert.deepEqual(
        found.violations.map(({ rule }) => rule),
        ["minRegionsPerModel"],
      );
    }
  });
  it("are loaded first where only a cold region is left, which no rule forbids", async () => {
    const cold = aRegion("paris", { placement: { state: "on-disk" }, gpuMemoryFreeBytes: 200e9 });
    const found = await plan(fakeGtm({ regions: [aRegion("frankfurt"), cold] }), "frankfurt", "down");
    assert.deepEqual(found.modelsToLoad, [{ pool: "chat", model: "llama-70b", region: "paris", coldStartMs: 80_000 }]);
    assert.deepEqual(found.violations, []);
  });
  it("are none where nothing served before either", async () => {
    const gtm = fakeGtm({ regions: [aRegion("frankfurt", { health: "unhealthy" })] });
    assert.deepEqual((await plan(gtm, "frankfurt", "down")).modelsWithoutRegion, []);
  });
  it("are none where a region comes back", async () => {
    const gtm = fakeGtm({ regions: [aRegion("frankfurt", { admin: "down" })] });
    const found = await plan(gtm, "frankfurt", "active", "down");
    assert.deepEqual(found.violations, []);
    assert.deepEqual(found.nextTurns, [
      { region: null, before: 1, after: 0 },
      { region: "frankfurt", before: 0, after: 1 },
    ]);
  });
});

describe("without the store", () => {
  it("nobody knows whose home the region is", async () => {
    const gtm = fakeGtm();
    gtm.state.isStoreAway = true;
    await assert.rejects(plan(gtm, "frankfurt", "down"), { code: "GTM_STORE_UNREACHABLE" });
  });
});
