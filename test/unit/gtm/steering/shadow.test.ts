/** A pool in shadow: answered by distance alone, while every decision says what steering would have done. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecisionMetrics } from "#gtm/datalayer/decision-metrics.ts";
import { servedTurnOf } from "#gtm/datalayer/served-turn.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import { decisionView } from "#gtm/steering/decision-view.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { createMetrics } from "#shared/metrics.ts";
import { aConversation, aRegion, decideIn, NOW_MS, type Situation } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { metricValue } from "#test/support/metric-value.ts";

/** A client in Frankfurt whose conversation of 20 000 tokens (4 s to recompute) is in Virginia. */
const away: Situation = {
  regions: [aRegion("frankfurt"), aRegion("virginia")],
  conversation: aConversation({ home: "virginia", contextTokens: 20_000 }),
  query: { promptTokens: 20_500 },
};
const shadow = (situation: Situation): Situation => ({ ...situation, pool: { ...situation.pool, steering: "shadow" } });

describe("a pool in shadow", () => {
  it("answers with the nearest region, whatever another one holds, and keeps what steering would have said", () => {
    const enforced = decideIn(away);
    assert.deepEqual(
      [enforced.mode, enforced.verdict.kind, regionOf(enforced.verdict), enforced.withheld],
      ["enforce", "pinned", "virginia", null],
    );
    const { mode, verdict, withheld, considered } = decideIn(shadow(away));
    assert.deepEqual([mode, verdict.kind, regionOf(verdict)], ["shadow", "placed", "frankfurt"]);
    assert.deepEqual(withheld, enforced.verdict);
    assert.deepEqual(considered, enforced.considered);
  });

  it("does not look at queues either", () => {
    const busy = aRegion("frankfurt", { placement: { backlogMs: 60_000 } });
    const { verdict, withheld } = decideIn(shadow({ regions: [busy, aRegion("virginia")] }));
    assert.equal(regionOf(verdict), "frankfurt");
    assert.equal(withheld === null ? null : regionOf(withheld), "virginia");
  });

  it("still keeps out regions that may not serve, and answers with the last resort when none may", () => {
    const regions = [aRegion("frankfurt", { admin: "drain-all" }), aRegion("virginia")];
    assert.equal(regionOf(decideIn(shadow({ regions })).verdict), "virginia");
    const none = decideIn(shadow({ regions: regions.map((region) => ({ ...region, admin: "down" as const })) }));
    assert.deepEqual([none.verdict.kind, none.withheld, none.answeredWith], ["unserved", null, "nothing"]);
  });

  it("does not depend on the order of regions", () => {
    const reversed = { ...away, regions: away.regions.toReversed() };
    assert.deepEqual(decideIn(shadow(reversed)).verdict, decideIn(shadow(away)).verdict);
  });

  it("remembers the context where it really goes", () => {
    const entry = anEntry({ ...shadow(away), query: { ...away.query, conversationId: away.conversation?.id ?? null } });
    assert.equal(servedTurnOf(entry)?.region, "frankfurt");
  });

  it("says in words and in its view what was withheld", () => {
    const view = decisionView(anEntry(shadow(away)), DEFAULT_POLICY, (ms) => ms);
    assert.deepEqual(
      [view.mode, view.withheld, view.flipsIf],
      ["shadow", { kind: "pinned", region: "virginia" }, null],
    );
    assert.match(
      view.explanation,
      /^Answered with frankfurt, the nearest .* Steering would have said: Stays in virginia/,
    );
  });

  it("is counted by what was withheld, and whether the answer agrees", async () => {
    const metrics = createMetrics();
    const count = createDecisionMetrics(metrics, { monotonicMs: () => NOW_MS });
    for (const situation of [shadow(away), shadow({ regions: away.regions }), away]) count(anEntry(situation));
    const value = (verdict: string, agrees: string) =>
      metricValue(metrics, "gtm_withheld_verdicts_total", { channel: "http", pool: "chat", verdict, agrees });
    assert.deepEqual([await value("pinned", "false"), await value("placed", "true")], [1, 1]);
  });
});
