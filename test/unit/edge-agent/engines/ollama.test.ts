import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Further } from "#edge-agent/engines/engine.ts";
import { ollama } from "#edge-agent/engines/ollama.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const json = (value: unknown): Further => ({ kind: "json", json: value });
const file = (name: string): Further => json(JSON.parse(enginePayload(name)));
const PS = file("ollama-ps.json");
const TAGS = file("ollama-tags.json");

const read = (further: Readonly<Record<string, Further>>) =>
  ollama.read({ page: null, models: null, further: new Map(Object.entries(further)) });

describe("Ollama", () => {
  const reading = read({ "/api/ps": PS, "/api/tags": TAGS });
  it("has loaded what is in memory, and nothing of the cloud", () => {
    assert.deepEqual(
      reading.models.map(({ model, aliases, state, contextLimitTokens, weightBytes }) => [
        ...[model, aliases, state],
        ...[contextLimitTokens, weightBytes],
      ]),
      [
        ["llama3.2:latest", ["llama3.2"], "loaded", 8_192, 2_019_393_189],
        ["qwen3:30b", [], "loaded", 32_768, 18_622_255_104],
      ],
    );
    assert.equal(reading.isMeasured, true);
  });
  it("does not say how busy it is, and that is no zero", () => {
    for (const { replicas } of reading.models) {
      assert.deepEqual(
        replicas.map((replica) => [replica.requestsRunning, replica.requestsWaiting, replica.kvCacheUsedFraction]),
        [[null, null, null]],
      );
    }
    assert.ok(reading.faults.some(({ field, code }) => field === "requestsWaiting" && code === "not-exported"));
  });
  it("tells a model that is partly computed by the CPU", () => {
    assert.ok(reading.faults.some(({ field, code }) => field === "qwen3:30b" && code === "partly-on-cpu"));
    assert.ok(!reading.faults.some(({ field }) => field === "llama3.2:latest"));
  });
  it("has on disk what is in its tags only", () => {
    const { models } = read({ "/api/ps": json({ models: [] }), "/api/tags": TAGS });
    assert.deepEqual(
      models.map(({ model, state, replicas }) => [model, state, replicas.length]),
      [
        ["llama3.2:latest", "on-disk", 0],
        ["qwen3:30b", "on-disk", 0],
      ],
    );
  });
  it("calls a model without a tag its latest, and the other way round", () => {
    const ps = json({ models: [{ name: "registry:5000/team/m" }] });
    const [model] = read({ "/api/ps": ps, "/api/tags": json({ models: [] }) }).models;
    assert.deepEqual([model?.model, model?.aliases], ["registry:5000/team/m:latest", ["registry:5000/team/m"]]);
  });
  it("does not have a cloud model in memory, whatever it lists there", () => {
    const ps = json({ models: [{ name: "gpt-oss:120b-cloud", size: 0 }] });
    assert.deepEqual(
      read({ "/api/ps": ps, "/api/tags": TAGS }).models.map(({ state }) => state),
      ["on-disk", "on-disk"],
    );
  });
  it("of which only the tags were had is not measured", () => {
    const { isMeasured, models, faults } = read({
      "/api/ps": { kind: "unknown", code: "timed-out" },
      "/api/tags": TAGS,
    });
    assert.deepEqual([isMeasured, models], [false, []]);
    assert.deepEqual(faults[0], { field: "state", code: "timed-out" });
  });
  for (const value of [null, [], { models: 1 }, { models: [null, 1, {}] }]) {
    it(`is read without a throw from ${JSON.stringify(value)}`, () =>
      assert.deepEqual(read({ "/api/ps": json(value), "/api/tags": json(value) }).models, []));
  }
  it("is told by its version and its list together", () => {
    const tells = (further: Readonly<Record<string, Further>>) => ollama.tells(new Map(Object.entries(further)));
    assert.equal(tells({ "/api/version": json({ version: "0.12.3" }), "/api/ps": PS }), true);
    assert.equal(tells({ "/api/version": json({ version: "0.12.3" }) }), false);
    assert.equal(tells({ "/api/ps": PS }), false);
  });
});
