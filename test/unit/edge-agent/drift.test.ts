import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answered, answers, codesIn, failed, heard, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const without = (name: string): string =>
  vllmPage([{ waiting: 3 }]).replaceAll(new RegExp(`^vllm:${name}.*\n`, "gm"), "");
const page = (text: string) => ({ metrics: answered(text) });
const reportAfter = (...pages: readonly string[]) =>
  reportOf([heard(pages.map((text, at) => answers(at * 1_000, page(text))))]);

describe("a field that used to be there", () => {
  it("and is gone is told, and is null", () => {
    const report = reportAfter(vllmPage([{ waiting: 3 }]), without("num_requests_waiting"));
    assert.deepEqual(codesIn(report, "requestsWaiting"), ["missing", "vanished"]);
    assert.equal(onlyModelOf(report).requestsWaiting, null);
  });
  it("and is back is told no more", () => {
    const report = reportAfter(vllmPage(), without("num_requests_waiting"), vllmPage([{ waiting: 3 }]));
    assert.deepEqual(codesIn(report, "requestsWaiting"), []);
    assert.equal(onlyModelOf(report).requestsWaiting, 3);
  });
  it("and has a value that is none has that fault only", () => {
    const report = reportAfter(vllmPage(), vllmPage([{ waiting: "NaN" }]));
    assert.deepEqual(codesIn(report, "requestsWaiting"), ["not-finite"]);
  });
  it("has not vanished while the page cannot be had", () => {
    const known = heard([answers(0), answers(1_000, { metrics: failed("timed-out") })]);
    assert.ok(!reportOf([known]).faults.some(({ code }) => code === "vanished"));
  });
  it("has not vanished where another engine came up", () => {
    const models = answered(enginePayload("sglang-models.json"));
    const known = heard([answers(0), answers(1_000, { ...page(enginePayload("sglang-0.5.18.t0.prom")), models })]);
    assert.equal(known.engine, "sglang");
    assert.ok(!reportOf([known]).faults.some(({ code }) => code === "vanished"));
  });
});

describe("a page on which no known name is left", () => {
  it("is told, and nothing of it is a zero", () => {
    const report = reportAfter(vllmPage([{ waiting: 3 }]), "acme_queue 0\n");
    assert.equal(report.faults.filter(({ code }) => code === "metrics-contract-broken").length, 6);
    assert.deepEqual(codesIn(report, "kvCacheUsedFraction"), ["vanished"]);
    for (const model of report.models) {
      assert.deepEqual([model.requestsWaiting, model.requestsRunning, model.kvCacheUsedFraction], [null, null, null]);
    }
  });
});

describe("the report", () => {
  it("says once for all engines that are alike which names were found", () => {
    const addresses = ["10.0.0.5:8000", "10.0.0.6:8000"];
    const report = reportOf(addresses.map((address) => heard([answers(0)], "auto", address)));
    const [reading, ...others] = report.readings ?? [];
    assert.deepEqual([reading?.engine, reading?.addresses, others], ["vllm", addresses, []]);
    assert.equal(reading?.fields["requestsWaiting"], "vllm:num_requests_waiting");
    assert.equal(reading?.fields["kvCapacityTokens"], "vllm:cache_config_info");
  });
  it("has the time that a load was seen to take, before the configured one", () => {
    const loading = answered('{"error":{"message":"Loading model"}}', { status: 503 });
    const models = answered(enginePayload("sglang-models.json"));
    const sglang = { ...page(enginePayload("sglang-0.5.18.t0.prom")), models };
    const rounds = [
      answers(0, sglang),
      answers(1_000, { metrics: failed("refused"), models: failed("refused"), health: failed("refused") }),
      answers(2_000, { ...sglang, metrics: failed("timed-out"), health: loading }),
      answers(44_000, { ...sglang, metrics: failed("timed-out"), health: loading }),
      answers(45_000, sglang),
    ];
    const settings = { "Qwen/Qwen3-32B": { coldStartMs: 80_000 } };
    assert.equal(onlyModelOf(reportOf([heard(rounds.slice(0, 1))], settings)).coldStartMs, 80_000);
    const during = onlyModelOf(reportOf([heard(rounds.slice(0, 4), "sglang")], settings));
    assert.deepEqual([during.state, during.coldStartMs], ["loading", 80_000]);
    const after = onlyModelOf(reportOf([heard(rounds, "sglang")], settings));
    assert.deepEqual([after.state, after.coldStartMs], ["loaded", 43_000]);
  });
});
