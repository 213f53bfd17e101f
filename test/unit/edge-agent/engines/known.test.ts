import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOTHING_FURTHER } from "#edge-agent/engines/engine.ts";
import { engineOf } from "#edge-agent/engines/known.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const choose = (wish: string, text: string | null, models: unknown = null): string => {
  const engine = engineOf(wish, {
    page: text === null ? null : parseExposition(text),
    models,
    further: NOTHING_FURTHER,
  });
  return engine?.name ?? "?";
};

describe("the engine behind a page", () => {
  const pages: readonly (readonly [file: string, engine: string])[] = [
    ["vllm-v1-current.t0.prom", "vllm"],
    ["vllm-v0-0.6.prom", "vllm"],
    ["llm-d-inference-sim.prom", "vllm"],
    ["sglang-0.5.18.t0.prom", "sglang"],
    ["tgi-3.3.prom", "tgi"],
    ["trtllm-serve-1.3-prometheus.prom", "trtllm"],
    ["llamacpp-b10519.prom", "llama-cpp"],
    ["dynamo-frontend.prom", "dynamo"],
    ["lmcache-mp.prom", "lmcache"],
    ["dcgm-exporter.prom", "?"],
  ];
  for (const [file, engine] of pages) {
    it(`of ${file} is ${engine}`, () => assert.equal(choose("auto", enginePayload(file)), engine));
  }
  it("is vLLM when LMCache writes onto the same page", () => {
    assert.equal(choose("auto", `${enginePayload("lmcache-inprocess.prom")}${vllmPage()}`), "vllm");
  });
  it("is told by who owns the models where the page says nothing", () => {
    const models: unknown = JSON.parse(enginePayload("vllm-v1-models.json"));
    assert.equal(choose("auto", "", models), "vllm");
    assert.equal(choose("auto", null, models), "vllm");
    assert.equal(choose("auto", enginePayload("sglang-0.5.18.t0.prom"), models), "sglang");
    assert.equal(choose("auto", null, JSON.parse(enginePayload("sglang-models.json"))), "sglang");
  });
  it("is what the operator says, whatever the page says", () => {
    assert.equal(choose("vllm", enginePayload("sglang-0.5.18.t0.prom")), "vllm");
  });
});
