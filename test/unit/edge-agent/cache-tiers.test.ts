import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tiersOn } from "#edge-agent/engines/cache-tiers.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { answered, answers, codesIn, heard, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { enginePayload, PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const TIER_ADDRESS = "10.0.0.9:8080";
const lmcachePage = (looked: number, found: number): string =>
  [
    ...[`lmcache_mp_lookup_requested_tokens_total{model_name="${PAGE_MODEL}"} ${looked}`],
    ...[`lmcache_mp_lookup_hit_tokens_total{model_name="${PAGE_MODEL}"} ${found}`, ""],
  ].join("\n");

const tierServer = (pages: readonly string[]) =>
  heard(
    pages.map((page, at) => answers(at * 1_000, { metrics: answered(page), models: answered("", { status: 404 }) })),
    "lmcache",
    TIER_ADDRESS,
  );

describe("LMCache", () => {
  it("on vLLM's own page is in that model's report, with its bytes", () => {
    const page = vllmPage() + enginePayload("lmcache-inprocess.prom");
    const { cacheTiers } = onlyModelOf(reportOf([heard([answers(0, { metrics: answered(page) })])]));
    assert.deepEqual(cacheTiers, [
      {
        tier: "lmcache",
        source: "10.0.0.5:8000",
        hitFraction: null,
        hitFractionSinceStart: 0.3,
        usedFraction: null,
        memoryUsedBytes: 42_949_672_960,
        storageUsedBytes: 0,
        remoteUsedBytes: 0,
      },
    ]);
  });
  it("as a server of its own is in the report of the model that it names, with its hits of the window", () => {
    const endpoints = [heard([answers(0)]), tierServer([lmcachePage(1_000, 300), lmcachePage(2_000, 1_100)])];
    const [tier] = onlyModelOf(reportOf(endpoints)).cacheTiers ?? [];
    assert.deepEqual([tier?.source, tier?.hitFraction, tier?.hitFractionSinceStart], [TIER_ADDRESS, 0.8, 0.55]);
  });
  it("that cannot be had just now is there, and nothing of it is known", () => {
    const known = heard([
      answers(0, { metrics: answered(vllmPage() + enginePayload("lmcache-inprocess.prom")) }),
      answers(1_000, { metrics: answered("", { status: 500 }) }),
    ]);
    const [tier] = onlyModelOf(reportOf([known])).cacheTiers ?? [];
    assert.deepEqual(
      [tier?.tier, tier?.hitFraction, tier?.hitFractionSinceStart, tier?.memoryUsedBytes],
      ["lmcache", null, null, null],
    );
  });
  it("of a model that nobody serves here is a fault", () => {
    const stray = tierServer([lmcachePage(10, 1).replaceAll(PAGE_MODEL, "another")]);
    const report = reportOf([heard([answers(0)]), stray]);
    assert.deepEqual(onlyModelOf(report).cacheTiers, []);
    assert.deepEqual(codesIn(report, "cacheTiers"), ["model-unknown"]);
  });
});

describe("a connector of vLLM", () => {
  const page = (queries: number, hits: number): string =>
    [
      ...[`vllm:external_prefix_cache_queries_total{engine="0",model_name="m"} ${queries}`],
      ...[`vllm:external_prefix_cache_hits_total{engine="0",model_name="m"} ${hits}`, ""],
    ].join("\n");
  it("is a tier once it was asked", () => {
    const [tier, ...others] = tiersOn(parseExposition(page(400, 100)));
    assert.deepEqual(
      [tier?.tier, tier?.model, tier?.readFrom, tier?.lookups[0]?.values, others.length],
      ["external", "m", "vllm:external_prefix_cache_hits_total", [400, 100], 0],
    );
  });
  it("that nobody ever asked is none", () => assert.deepEqual(tiersOn(parseExposition(page(0, 0))), []));
});

describe("the host's memory under", () => {
  it("SGLang is a tier: what the GPU had not was looked up there", () => {
    const series = (name: string, value: number, labels = ""): string =>
      `sglang:${name}{model_name="m",tp_rank="0"${labels}} ${value}\n`;
    const page = [
      ...[series("hicache_host_used_tokens", 30_000), series("hicache_host_total_tokens", 120_000)],
      ...[
        ["input", 500],
        ["device_hit", 2_000],
        ["host_hit", 300],
        ["storage_hit", 200],
      ].map(([mode, tokens]) => series("prefill_effective_tokens_total", Number(tokens), `,mode="${mode}"`)),
    ].join("");
    const [tier] = tiersOn(parseExposition(page));
    assert.deepEqual([tier?.tier, tier?.usedFraction, tier?.lookups[0]?.values], ["host", 0.25, [1_000, 500]]);
  });
  it("TensorRT-LLM says how full it is", () => {
    const [tier] = tiersOn(parseExposition('trtllm_kv_cache_host_utilization{model_name="m"} 0.4\n'));
    assert.deepEqual([tier?.tier, tier?.usedFraction, tier?.lookups], ["host", 0.4, []]);
  });
});
