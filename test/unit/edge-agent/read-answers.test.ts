import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newEndpoint } from "#edge-agent/endpoint.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import type { EngineAnswers, Fetched, GpuAnswer } from "#edge-agent/ports.ts";
import { readEngine, readGpus } from "#edge-agent/read-answers.ts";
import { answered, answers, failed, heard } from "#test/support/edge-agent.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const read = (wish: Partial<EngineAnswers>, engine = "auto") =>
  readEngine(answers(0, wish), newEndpoint("h:1"), { ...PLAIN, wish: engine });

describe("answers of an engine", () => {
  const pages: readonly { readonly when: string; readonly metrics: Fetched; readonly code: string }[] = [
    { when: "timed out", metrics: failed("timed-out"), code: "timed-out" },
    { when: "too large", metrics: failed("too-large"), code: "too-large" },
    { when: "404", metrics: answered("not here", { status: 404 }), code: "http-404" },
    { when: "cut inside a line", metrics: answered(vllmPage().slice(0, 500)), code: "half-sent" },
    {
      when: "OpenMetrics without its end",
      metrics: answered(vllmPage(), { contentType: "application/openmetrics-text; version=1.0.0" }),
      code: "half-sent",
    },
  ];
  for (const { when, metrics, code } of pages) {
    it(`with a page that is ${when} measure nothing and say ${code}`, () => {
      const seen = read({ metrics });
      assert.equal(seen.isMeasured, false);
      assert.deepEqual(seen.faults, [{ field: "page", code }]);
    });
  }

  const lists: readonly { readonly when: string; readonly models: Fetched; readonly code: string }[] = [
    { when: "asks for a key", models: answered("{}", { status: 401 }), code: "http-401" },
    { when: "is no JSON", models: answered("<html>"), code: "not-json" },
    { when: "is other JSON", models: answered('{"data":1}'), code: "not-a-model-list" },
    { when: "is refused", models: failed("refused"), code: "refused" },
  ];
  for (const { when, models, code } of lists) {
    it(`with a model list that ${when} are read nevertheless and say ${code}`, () => {
      const seen = read({ models });
      assert.equal(seen.modelList, null);
      assert.equal(seen.reading?.models.length, 1);
      assert.deepEqual(seen.faults, [{ field: "models", code }]);
    });
  }

  const healths: readonly (readonly [Fetched, string])[] = [
    [answered(""), "up"],
    [answered("", { status: 503 }), "down"],
    [failed("refused"), "down"],
    [failed("timed-out"), "unknown"],
    [failed("unreachable"), "unknown"],
    [answered("", { status: 404 }), "unknown"],
    [answered("", { status: 500 }), "unknown"],
  ];
  for (const [health, expected] of healths) {
    it(`are ${expected} when /health is ${health.kind === "failed" ? health.code : health.status}`, () => {
      assert.equal(read({ health }).health, expected);
    });
  }

  it("of nobody known are told as unrecognised", () => {
    const seen = read({ metrics: answered("a 1\n"), models: failed("timed-out") });
    assert.deepEqual(seen.faults.at(-1), { field: "engine", code: "unrecognised" });
  });
  it("without a page are read as the engine that was recognised before", () => {
    const known = heard([answers(0, { models: failed("timed-out") })]);
    const silence = { metrics: failed("timed-out"), models: failed("timed-out") };
    const seen = readEngine(answers(1_000, silence), known, { ...PLAIN, wish: "auto" });
    assert.equal(seen.reading?.engine, "vllm");
  });
});

describe("answers about GPUs", () => {
  const unknown = { uuid: "GPU-a", memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null };
  const cases: readonly { readonly when: string; readonly answer: GpuAnswer; readonly code: string }[] = [
    {
      when: "the exporter does not answer",
      answer: { kind: "page", source: "dcgm", page: failed("timed-out") },
      code: "timed-out",
    },
    {
      when: "the exporter's page came half",
      answer: { kind: "page", source: "dcgm", page: answered("DCGM_FI_DEV_FB_USED{UUID=") },
      code: "half-sent",
    },
    {
      when: "the command is not there",
      answer: { kind: "nvidia-smi", source: "nvidia-smi", output: { kind: "failed", code: "not-runnable" } },
      code: "not-runnable",
    },
    {
      when: "the command fails",
      answer: {
        kind: "nvidia-smi",
        source: "nvidia-smi",
        output: { kind: "ended", exitCode: 9, text: "NVIDIA-SMI has failed" },
      },
      code: "exit-9",
    },
    {
      when: "there are no devices, for which the command fails too",
      answer: {
        kind: "nvidia-smi",
        source: "nvidia-smi",
        output: { kind: "ended", exitCode: 6, text: "No devices were found\n" },
      },
      code: "no-devices",
    },
  ];
  for (const { when, answer, code } of cases) {
    it(`leave configured GPUs unknown and say ${code} when ${when}`, () => {
      const gpus = readGpus([answer], ["GPU-a"]);
      assert.deepEqual(gpus.gpus, [unknown]);
      assert.deepEqual(
        gpus.faults.map((fault) => fault.code),
        [code],
      );
    });
  }
  it("that are whole are memory", () => {
    const page = answered(enginePayload("dcgm-exporter.prom"));
    const { gpus } = readGpus([{ kind: "page", source: "dcgm", page }], []);
    assert.deepEqual([gpus.length, gpus[2]?.memoryUsedBytes], [4, 607_125_504]);
  });
  it("of several hosts are one list, in which a GPU that two exporters tell of stands once", () => {
    const page = answered(enginePayload("dcgm-exporter.prom"));
    const amd = answered(enginePayload("amd-device-metrics-exporter.prom"));
    const { gpus, faults } = readGpus(
      [
        { kind: "page", source: "10.0.0.5:9400", page },
        { kind: "page", source: "10.0.0.6:5000", page: amd },
        { kind: "page", source: "10.0.0.7:9400", page },
      ],
      [],
    );
    assert.deepEqual([gpus.length, faults], [6, []]);
  });
  it("of several hosts miss no GPU that one of them tells of", () => {
    const page = answered(enginePayload("dcgm-exporter.prom"));
    const uuid = "GPU-00000002-aaaa-bbbb-cccc-000000000000";
    const { gpus, faults } = readGpus(
      [
        { kind: "page", source: "a:9400", page: answered(enginePayload("amd-device-metrics-exporter.prom")) },
        { kind: "page", source: "b:9400", page },
      ],
      [uuid],
    );
    assert.deepEqual([gpus.map((gpu) => [gpu.uuid, gpu.memoryUsedBytes]), faults], [[[uuid, 607_125_504]], []]);
  });
});
