import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newEndpoint } from "#edge-agent/endpoint.ts";
import type { EngineReading } from "#edge-agent/engines/engine.ts";
import { isKnownName } from "#edge-agent/engines/known.ts";
import { reworded } from "#edge-agent/engines/wording.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { readEngine } from "#edge-agent/read-answers.ts";
import { answered, answers, failed } from "#test/support/edge-agent.ts";
import { enginePayload, PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const read = (
  page: string,
  words: { model?: string; aliases?: Record<string, string>; wish?: string },
): EngineReading => {
  const { reading } = readEngine(
    answers(0, { metrics: answered(page), models: failed("timed-out"), health: null }),
    newEndpoint("h:1"),
    { wish: words.wish ?? "auto", model: words.model ?? null, aliases: words.aliases ?? {} },
  );
  assert.ok(reading);
  return reading;
};

const RENAMED = vllmPage([{ waiting: 7, firstTokens: [1, 2, 3] }])
  .replaceAll("vllm:num_requests_waiting", "acme_queue_depth")
  .replaceAll("vllm:time_to_first_token_seconds", "acme_ttft");

describe("a page with renamed metrics", () => {
  it("lacks them, and says so", () => {
    const reading = read(RENAMED, {});
    assert.equal(reading.models[0]?.replicas[0]?.requestsWaiting, null);
    assert.ok(
      reading.faults.some(
        ({ field, code }) => field === "vllm:num_requests_waiting" && code === "metrics-contract-broken",
      ),
    );
  });
  it("is whole with one line for each, also for all parts of a histogram", () => {
    const aliases = {
      acme_queue_depth: "vllm:num_requests_waiting",
      acme_ttft: "vllm:time_to_first_token_seconds",
    };
    const reading = read(RENAMED, { aliases });
    const [replica] = reading.models[0]?.replicas ?? [];
    assert.equal(replica?.requestsWaiting, 7);
    assert.deepEqual(replica?.counters.firstToken[0]?.values, [1, 2, 3]);
    assert.deepEqual(reading.faults, []);
    const from = reading.sources.find(({ field }) => field === "requestsWaiting");
    assert.equal(from?.source, "acme_queue_depth as vllm:num_requests_waiting");
  });
  it("is read by the engine's own name where that is back", () => {
    const page = `${vllmPage([{ waiting: 7 }])}acme_queue_depth{model_name="${PAGE_MODEL}"} 99\n`;
    const reading = read(page, { aliases: { acme_queue_depth: "vllm:num_requests_waiting" } });
    assert.equal(reading.models[0]?.replicas[0]?.requestsWaiting, 7);
  });
  it("of which every name was changed is recognised by an alias", () => {
    const page = `acme_q{model_name="m"} 3\nacme_r{model_name="m"} 2\nacme_kv{model_name="m"} 0.5\n`;
    const aliases = {
      acme_q: "sglang:num_queue_reqs",
      acme_r: "sglang:num_running_reqs",
      acme_kv: "sglang:token_usage",
    };
    const { engine, models } = read(page, { aliases });
    const [replica] = models[0]?.replicas ?? [];
    assert.deepEqual([engine, replica?.requestsWaiting, replica?.kvCacheUsedFraction], ["sglang", 3, 0.5]);
  });
  it("that contradicts itself does so under the known name, too", () => {
    const page = parseExposition('acme{a="1"} 1\nacme{a="1"} 2\n');
    const { page: known } = reworded(page, { acme: "vllm:num_requests_waiting" });
    assert.ok(known.contradicted.has("vllm:num_requests_waiting"));
  });
  it("is the same page where nothing was renamed", () => {
    const page = parseExposition(vllmPage());
    assert.equal(reworded(page, { acme: "vllm:num_requests_waiting" }).page, page);
  });
});

describe("names that an alias may stand for", () => {
  const cases: readonly (readonly [name: string, isKnown: boolean])[] = [
    ["vllm:num_requests_waiting", true],
    ["ray_vllm_num_requests_waiting", true],
    ["vllm:time_to_first_token_seconds", true],
    ["vllm:time_to_first_token_seconds_bucket", true],
    ["sglang:max_total_num_tokens", true],
    ["tgi_queue_size", true],
    ["dynamo_frontend_queued_requests", true],
    ["llamacpp:requests_processing", true],
    ["vllm:num_request_waiting", false],
    ["up", false],
  ];
  for (const [name, isKnown] of cases) it(`${name}: ${isKnown}`, () => assert.equal(isKnownName(name), isKnown));
});

describe("a model that the engine calls by a name of its own, or by none", () => {
  const triton =
    'nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="waiting",version="1"} 1\n' +
    'nv_trt_llm_request_metrics{model="tensorrt_llm",request_type="scheduled",version="1"} 4\n' +
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="tensorrt_llm",version="1"} 0.5\n';
  it("is told, and keeps the engine's name", () => {
    const { models, faults } = read(triton, {});
    assert.equal(models[0]?.model, "tensorrt_llm");
    assert.ok(faults.some(({ field, code }) => field === "model" && code === "engine-name"));
  });
  it("has the configured name, and no fault", () => {
    const { models, faults } = read(triton, { model: PAGE_MODEL });
    assert.deepEqual([models[0]?.model, models[0]?.aliases], [PAGE_MODEL, ["tensorrt_llm"]]);
    assert.ok(!faults.some(({ field }) => field === "model"));
  });
  it("has the configured name where the page names none", () => {
    const { models } = read(enginePayload("tgi-3.3.prom"), { model: "m" });
    assert.deepEqual([models[0]?.model, models[0]?.aliases], ["m", []]);
  });
  it("is left alone where there are several", () => {
    const page = `${vllmPage()}${vllmPage().replaceAll(PAGE_MODEL, "other")}`;
    const { models, faults } = read(page, { model: "m" });
    assert.deepEqual(
      models.map(({ model }) => model),
      [PAGE_MODEL, "other"],
    );
    assert.ok(faults.some(({ code }) => code === "several-models"));
  });
});
