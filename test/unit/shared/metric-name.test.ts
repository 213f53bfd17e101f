import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultOfMetric, type MetricKind } from "#shared/metric-name.ts";

const fault = (kind: MetricKind, name: string, labels: readonly string[] = []) =>
  faultOfMetric(kind, { name, help: "Something.", labels });

describe("a metric's name", () => {
  const good: readonly (readonly [MetricKind, string])[] = [
    ["counter", "gtm_decisions_total"],
    ["counter", "gtm_turns_over_three_seconds_total"],
    ["counter", "edge_agent_scrape_failures_total"],
    ["counter", "gtm_answered_bytes_total"],
    ["gauge", "gtm_store_up"],
    ["gauge", "gtm_region_report_age_seconds"],
    ["gauge", "gtm_region_kv_cache_used_fraction"],
    ["gauge", "gtm_config_info"],
    ["histogram", "gtm_decision_duration_seconds"],
    ["histogram", "gtm_prompt_tokens"],
  ];
  for (const [kind, name] of good) it(`may be ${name} for a ${kind}`, () => assert.equal(fault(kind, name), null));

  const bad: readonly (readonly [MetricKind, string, RegExp])[] = [
    ["counter", "decisions_total", /prefix gtm_/],
    ["counter", "gtmdecisions_total", /prefix gtm_/],
    ["counter", "gtm_Decisions_total", /snake_case/],
    ["counter", "gtm__decisions_total", /snake_case/],
    ["counter", "gtm_decisions_total_", /snake_case/],
    ["counter", "gtm_decisions-total", /snake_case/],
    ["counter", "gtm_", /snake_case/],
    ["counter", "gtm_decisions", /end in _total/],
    ["gauge", "gtm_conversations_total", /only they, end in _total/],
    ["histogram", "gtm_decision_duration", /ends in its unit/],
    ["histogram", "gtm_decision_duration_ms", /seconds instead of ms/],
    ["gauge", "gtm_world_age_milliseconds", /seconds instead of milliseconds/],
    ["gauge", "gtm_rtt_latency", /seconds instead of latency/],
    ["gauge", "gtm_memory_mib", /bytes instead of mib/],
    ["gauge", "gtm_cache_used_percent", /fraction instead of percent/],
    ["gauge", "gtm_cache_hit_ratio", /fraction instead of ratio/],
  ];
  for (const [kind, name, says] of bad) {
    it(`cannot be ${name} for a ${kind}`, () => assert.match(fault(kind, name) ?? "", says));
  }
});

describe("a metric", () => {
  it("has a help text", () => {
    assert.match(faultOfMetric("gauge", { name: "gtm_store_up", help: " " }) ?? "", /help/);
  });
  for (const label of ["le", "quantile", "Region", "conversation", "conversation_id", "client", "a-b", ""]) {
    it(`cannot have the label "${label}"`, () => {
      assert.match(fault("counter", "gtm_x_total", ["region", label]) ?? "", /cannot be a label/);
    });
  }
  it("has buckets only as a histogram, ascending and finite", () => {
    const spec = { name: "gtm_x_seconds", help: "Something." };
    assert.equal(faultOfMetric("histogram", { ...spec, buckets: [0.1, 1] }), null);
    assert.match(faultOfMetric("gauge", { ...spec, buckets: [0.1, 1] }) ?? "", /only histograms/);
    for (const buckets of [[], [1, 1], [2, 1], [1, Number.POSITIVE_INFINITY], [Number.NaN]]) {
      assert.match(faultOfMetric("histogram", { ...spec, buckets }) ?? "", /ascending, finite/);
    }
  });
});
