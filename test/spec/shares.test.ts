/** A region that may have a share of some traffic: who is in it, who stays, and when a share yields. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { regionOf } from "#gtm/domain/decision.ts";
import type { OverrideRule, World } from "#gtm/domain/world.ts";
import { cellOf, createCellSteer } from "#gtm/steering/cell.ts";
import { explain } from "#gtm/steering/explain.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { ConversationId } from "#shared/ids.ts";
import { aClient, aConversation, aPool, aQuery, aRegion, aWorld, decideIn, regionId } from "#test/support/builders.ts";

const shareOf = (share: number, wish: Partial<OverrideRule> = {}): OverrideRule => ({
  ...{ id: "o1", region: "frankfurt", pool: "*", model: "*", tenant: "*", ...wish },
  kind: "share",
  share,
});
/** Frankfurt is 20 ms from the client, Virginia 100: without a share everything goes to Frankfurt. */
const regions = [aRegion("frankfurt"), aRegion("virginia")];
const named = (at: number) => ConversationId.parse(`abcdefgh${String(at).padStart(5, "0")}`);
const placed = (at: number, world: Partial<World>) =>
  decideIn({ regions, query: { conversationId: named(at) }, world });
/** A conversation that a share of 0.2 leaves out. */
const OUTSIDE = Array.from({ length: 50 }, (_, at) => at).find(
  (at) => regionOf(placed(at, { overrides: [shareOf(0.2)] }).verdict) === "virginia",
);
const outside = { conversationId: named(OUTSIDE ?? 0) };

describe("a share of 0.2 for Frankfurt, which everything would go to", () => {
  const overrides = [shareOf(0.2)];
  it("lets about a fifth of 2 000 new conversations in, always the same ones", () => {
    const inside = (salt: Partial<World>) =>
      Array.from({ length: 2_000 }, (_, at) => at).filter(
        (at) => regionOf(placed(at, { overrides, ...salt }).verdict) === "frankfurt",
      );
    const first = inside({});
    // Five standard deviations of 2 000 draws are 0.045.
    assert.ok(Math.abs(first.length / 2_000 - 0.2) < 0.045, `${first.length} of 2 000`);
    assert.deepEqual(inside({ version: 99 }), first);
  });
  it("names the override where it keeps the region out, in the record and in English", () => {
    const decision = decideIn({ regions, query: outside, world: { overrides } });
    const [frankfurt] = decision.considered;
    assert.deepEqual(frankfurt?.kind === "excluded" && frankfurt.exclusion, {
      ...{ reason: "over-share", overrideId: "o1", share: 0.2 },
    });
    assert.deepEqual([decision.overrideId, decision.yieldedOverrideIds], ["o1", []]);
    assert.match(
      explain(decision, DEFAULT_POLICY).explanation,
      /frankfurt gets a share of 0\.2 of what is placed anew \(override o1\), and this is not in it\./,
    );
  });
  it("leaves the conversations there that Frankfurt holds", () => {
    for (let at = 0; at < 20; at++) {
      const conversation = { ...aConversation({ home: "frankfurt", contextTokens: 20_000 }), id: named(at) };
      assert.equal(decideIn({ regions, conversation, world: { overrides } }).verdict.kind, "pinned");
    }
  });
  it("keeps those out that another region holds, however long its queue", () => {
    const conversation = { ...aConversation({ home: "virginia", contextTokens: 20_000 }), id: outside.conversationId };
    const busy = [aRegion("frankfurt"), aRegion("virginia", { placement: { backlogMs: 60_000 } })];
    assert.equal(regionOf(decideIn({ regions: busy, conversation }).verdict), "frankfurt");
    assert.equal(regionOf(decideIn({ regions: busy, conversation, world: { overrides } }).verdict), "virginia");
  });
  it("concerns no other tenant than it names", () => {
    const one = decideIn({ regions, query: outside, world: { overrides: [shareOf(0.2, { tenant: "acme" })] } });
    assert.deepEqual([regionOf(one.verdict), one.overrideId], ["frankfurt", null]);
  });
});

describe("a share yields, and the record says so,", () => {
  const yields: readonly { when: string; others: Parameters<typeof aRegion>[1] }[] = [
    { when: "where the other region is down", others: { health: "unhealthy" } },
    { when: "where the other region does not have the model", others: { placement: null } },
  ];
  for (const { when, others } of yields) {
    it(when, () => {
      const alone = [aRegion("frankfurt"), aRegion("virginia", others)];
      const decision = decideIn({ regions: alone, query: outside, world: { overrides: [shareOf(0)] } });
      assert.deepEqual([regionOf(decision.verdict), decision.yieldedOverrideIds], ["frankfurt", ["o1"]]);
      assert.match(explain(decision, DEFAULT_POLICY).explanation, /The share of override o1 would have left no region/);
    });
  }
  it("but not where another region can load the model first", () => {
    const cold = aRegion("virginia", { placement: { state: "on-disk" }, gpuMemoryFreeBytes: 200e9 });
    const decision = decideIn({
      ...{ regions: [aRegion("frankfurt"), cold], query: outside, world: { overrides: [shareOf(0)] } },
    });
    assert.deepEqual([regionOf(decision.verdict), decision.yieldedOverrideIds], ["virginia", []]);
  });
  it("and does not where an order keeps the region out as well", () => {
    const deny: OverrideRule = { id: "o2", kind: "deny", region: "*", pool: "*", model: "*", tenant: "*" };
    const decision = decideIn({ regions, query: outside, world: { overrides: [shareOf(0), deny] } });
    assert.deepEqual([decision.verdict.kind, decision.yieldedOverrideIds], ["unserved", []]);
  });
  it("also on a GTM that has heard of no region yet", () => {
    const blind = ["frankfurt", "virginia"].map((id) => aRegion(id, { reportAgeMs: null, placement: null }));
    const only = (share: number) =>
      decideIn({ regions: blind, query: outside, world: { overrides: [shareOf(share)] } });
    assert.deepEqual([regionOf(only(0).verdict), only(0).yieldedOverrideIds], ["virginia", []]);
    const [first] = blind;
    assert.ok(first !== undefined);
    const alone = decideIn({ regions: [first], query: outside, world: { overrides: [shareOf(0)] } });
    assert.deepEqual([regionOf(alone.verdict), alone.yieldedOverrideIds], ["frankfurt", ["o1"]]);
  });
});

describe("the cells of DNS under a share of 0.3", () => {
  const pool = aPool(regions);
  const answer = (area: string, share: number, previous: string | null) => {
    const world = aWorld(regions, { overrides: [shareOf(share)] });
    const client = aClient("frankfurt", { area });
    const decided = createCellSteer({ world: () => world }, DEFAULT_POLICY)(
      aQuery(pool, { channel: "dns", kind: "cell" }),
      client,
      cellOf(pool, client, 4),
      previous === null ? null : regionId(previous),
    );
    return regionOf(decided.verdict);
  };
  it("are decided by their own name: about three of ten are in it, whoever was answered before", () => {
    const areas = Array.from({ length: 1_000 }, (_, at) => `area-${at}`);
    const inside = areas.filter((area) => answer(area, 0.3, null) === "frankfurt");
    // Five standard deviations of 1 000 draws are 0.072.
    assert.ok(Math.abs(inside.length / 1_000 - 0.3) < 0.072, `${inside.length} of 1 000`);
    const [some] = inside;
    const left = areas.find((area) => !inside.includes(area));
    assert.ok(some !== undefined && left !== undefined);
    assert.equal(answer(some, 0.3, "frankfurt"), "frankfurt");
    assert.equal(answer(left, 0.3, "frankfurt"), "virginia");
  });
});
