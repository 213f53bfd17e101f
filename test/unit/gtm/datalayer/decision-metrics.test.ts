/** What is counted of decisions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecisionMetrics } from "#gtm/datalayer/decision-metrics.ts";
import { createMetrics } from "#shared/metrics.ts";
import { aConversation, aRegion, NOW_MS } from "#test/support/builders.ts";
import { anEntry, type EntryWish } from "#test/support/entry-builders.ts";
import { metricValue } from "#test/support/metric-value.ts";

/** Counts these entries, each 2 ms after its query came. */
const counted = (...wishes: readonly EntryWish[]) => {
  const metrics = createMetrics();
  const count = createDecisionMetrics(metrics, { monotonicMs: () => NOW_MS + 2 });
  for (const wish of wishes) count(anEntry(wish));
  return (name: string, labels: Readonly<Record<string, string>> = {}) => metricValue(metrics, name, labels);
};
const home = aConversation({ home: "frankfurt", contextTokens: 20_000 });
const turn = { promptTokens: 20_500 };

describe("a decision", () => {
  it("is counted by channel, pool, region and verdict, and how long it took", async () => {
    const value = counted({}, {}, { query: { channel: "dns", kind: "label" } });
    const labels = { channel: "http", pool: "chat", region: "frankfurt", verdict: "placed" };
    assert.equal(await value("gtm_decisions_total", labels), 2);
    assert.equal(await value("gtm_decisions_total", { ...labels, channel: "dns" }), 1);
    assert.equal(await value("gtm_decision_duration_seconds_count", { channel: "http" }), 2);
    assert.ok(Math.abs((await value("gtm_decision_duration_seconds_sum", { channel: "http" })) - 0.004) < 1e-9);
  });
  it("that no region serves is counted under none", async () => {
    const value = counted({ regions: [aRegion("frankfurt", { admin: "down" })] });
    assert.equal(await value("gtm_decisions_total", { region: "none", verdict: "unserved" }), 1);
    assert.equal(await value("gtm_decision_lead_seconds_count", { channel: "http" }), 0);
  });
  it("that only explains is none", async () => {
    assert.equal(await counted({ query: { channel: "explain" } })("gtm_decisions_total"), 0);
  });
});

describe("a region that could not serve", () => {
  it("is counted by its reason, unless it is no member of the pool", async () => {
    const regions = [aRegion("frankfurt"), aRegion("paris", { admin: "drain-all" }), aRegion("virginia")];
    const value = counted({ regions, pool: { regions: regions.slice(0, 2).map(({ id }) => id) } });
    assert.equal(await value("gtm_exclusions_total", { region: "paris", exclusion: "draining" }), 1);
    assert.equal(await value("gtm_exclusions_total", { region: "virginia" }), 0);
  });
});

describe("a conversation that leaves home", () => {
  const busy = aRegion("frankfurt", { placement: { backlogMs: 60_000 } });
  it("is counted by where from, where to, and that it is cheaper there", async () => {
    const value = counted({ regions: [busy, aRegion("paris")], conversation: home, query: turn });
    assert.equal(await value("gtm_migrations_total", { from: "frankfurt", to: "paris", cause: "cheaper" }), 1);
  });
  it("is counted by what keeps home from serving", async () => {
    const down = aRegion("frankfurt", { health: "unhealthy" });
    const value = counted({ regions: [down, aRegion("paris")], conversation: home, query: turn });
    assert.equal(await value("gtm_migrations_total", { from: "frankfurt", to: "paris", cause: "down" }), 1);
  });
  it("is not counted when a name is answered elsewhere: names move nothing", async () => {
    const down = aRegion("frankfurt", { health: "unhealthy" });
    const query = { channel: "dns", kind: "label" } as const;
    assert.equal(
      await counted({ regions: [down, aRegion("paris")], conversation: home, query })("gtm_migrations_total"),
      0,
    );
  });
});

describe("a turn that will take over three seconds to its first token", () => {
  it("is counted by its region", async () => {
    const busy = aRegion("frankfurt", { placement: { backlogMs: 3_000 } });
    assert.equal(
      await counted({ regions: [busy] }, {})("gtm_turns_over_three_seconds_total", { region: "frankfurt" }),
      1,
    );
  });
});

describe("the lead over the runner-up", () => {
  it("is observed in seconds, as 0 where only the margin keeps a conversation", async () => {
    const regions = [aRegion("frankfurt"), aRegion("singapore")];
    const value = counted({ regions });
    assert.equal(await value("gtm_decision_lead_seconds_count", { channel: "http" }), 1);
    assert.ok((await value("gtm_decision_lead_seconds_sum", { channel: "http" })) > 0.1);
    const kept = counted({
      regions: [aRegion("frankfurt", { placement: { backlogMs: 5_000 } }), aRegion("paris")],
      conversation: home,
      query: turn,
      policy: { marginFraction: 0.9 },
    });
    assert.equal(await kept("gtm_decision_lead_seconds_sum", { channel: "http" }), 0);
    assert.equal(await kept("gtm_decision_lead_seconds_count", { channel: "http" }), 1);
  });
});
