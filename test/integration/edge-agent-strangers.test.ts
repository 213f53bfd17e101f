/** Engines that nobody named in the configuration, asked over real sockets: who they are, and what they are not asked. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDoor, NO_ACCESS } from "#edge-agent/door.ts";
import { learn, newEndpoint } from "#edge-agent/endpoint.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import { readEngine } from "#edge-agent/read-answers.ts";
import { scrapeEngine } from "#edge-agent/scrape-engine.ts";
import { systemClock } from "#shared/clock.ts";
import { onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { type ScriptedEngine, startScriptedEngine, whole } from "#test/support/scripted-engine.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

/** One round beside an engine that answers only what the test gives it. */
const looked = async (
  engine: ScriptedEngine,
  answers: Readonly<Record<string, readonly [text: string, status?: number]>>,
) => {
  for (const path of ["/metrics", "/v1/models", "/health"]) engine.answers.set(path, whole("not here", 404));
  for (const [path, [text, status]] of Object.entries(answers)) engine.answers.set(path, whole(text, status));
  const door = createDoor(NO_ACCESS, { deadlineMs: 20_000, host: null });
  const target = { address: engine.address, url: engine.origin, wish: "auto", door };
  const signal = new AbortController().signal;
  const before = newEndpoint(engine.address);
  const found = await scrapeEngine(target, before, { clock: systemClock, signal });
  await door.close();
  const endpoint = learn(before, readEngine(found, before, { ...PLAIN, wish: "auto" }));
  return { endpoint, report: reportOf([endpoint]), paths: engine.requests.map(({ path }) => path) };
};

describe("a stranger", () => {
  it("that is a router of llama.cpp is not asked for a page before its list is known, and never of what is not loaded", async () => {
    await using engine = await startScriptedEngine();
    const { endpoint, report, paths } = await looked(engine, {
      "/v1/models": [enginePayload("llamacpp-router-models.json")],
      "/health": ['{"status":"ok"}'],
      "/props": ['{"role":"router"}'],
      "/metrics?model=qwen3-8b&autoload=false": [enginePayload("llamacpp-b10519.prom")],
      "/slots?model=qwen3-8b&autoload=false": [enginePayload("llamacpp-slots.json")],
      "/props?model=qwen3-8b&autoload=false": [enginePayload("llamacpp-props.json")],
    });
    assert.equal(endpoint.engine, "llama-cpp");
    assert.deepEqual(
      report.models.map(({ model, state, requestsRunning }) => [model, state, requestsRunning]),
      [
        ["gemma-3-4b", "on-disk", null],
        ["phi-4", "loading", null],
        ["qwen3-8b", "loaded", 1],
      ],
    );
    assert.equal(paths.includes("/metrics"), false);
    assert.ok(!paths.some((path) => /gemma|phi/.test(path)), paths.join(" "));
    assert.ok(paths.filter((path) => path.includes("?")).every((path) => path.endsWith("&autoload=false")));
  });
  it("that is a llama.cpp which loads is known as such, and is not down", async () => {
    await using engine = await startScriptedEngine();
    const loading = [enginePayload("llamacpp-health-loading.503.json"), 503] as const;
    const { endpoint, report } = await looked(engine, {
      "/v1/models": loading,
      "/health": loading,
      "/props": loading,
      "/metrics": loading,
    });
    assert.deepEqual([endpoint.engine, endpoint.isDown, endpoint.isLoading], ["llama-cpp", false, true]);
    assert.deepEqual([...new Set(report.faults.map(({ code }) => code))], ["loading"]);
  });
  it("that is Ollama is known by its version and its list, and its cloud models are not here", async () => {
    await using engine = await startScriptedEngine();
    const { endpoint, report } = await looked(engine, {
      "/api/version": ['{"version":"0.12.3"}'],
      "/api/ps": [enginePayload("ollama-ps.json")],
      "/api/tags": [enginePayload("ollama-tags.json")],
    });
    assert.equal(endpoint.engine, "ollama");
    assert.deepEqual(
      report.models.map(({ model, state, requestsWaiting }) => [model, state, requestsWaiting]),
      [
        ["llama3.2:latest", "loaded", null],
        ["qwen3:30b", "loaded", null],
      ],
    );
  });
  it("that is vLLM is asked for nothing but what vLLM has", async () => {
    await using engine = await startScriptedEngine();
    const { report, paths } = await looked(engine, {
      "/metrics": [enginePayload("vllm-v1-current.t0.prom")],
      "/v1/models": [enginePayload("vllm-v1-models.json")],
      "/health": [""],
    });
    assert.equal(onlyModelOf(report).state, "loaded");
    assert.deepEqual(paths.toSorted(), ["/health", "/metrics", "/v1/models"]);
  });
  it("that is nobody's is told, and nothing is reported of it", async () => {
    await using engine = await startScriptedEngine();
    const { endpoint, report } = await looked(engine, { "/metrics": ["a 1\n"], "/health": [""] });
    assert.deepEqual([endpoint.engine, report.models], [null, []]);
    assert.ok(report.faults.some(({ field, code }) => field === "engine" && code === "unrecognised"));
  });
});
