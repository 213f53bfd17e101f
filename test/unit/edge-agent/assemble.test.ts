import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assemble } from "#edge-agent/assemble.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { RegionReport } from "#shared/report.ts";
import { answered, answers, EPOCH_MS, heard, reportOf } from "#test/support/edge-agent.ts";
import { PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const IDENTITY = { region: RegionId.parse("eu-central"), agent: AgentId.parse("a1"), boot: "b1" };

describe("a report", () => {
  it("without anything to say is complete nevertheless", () => {
    const round = { seq: 7, reportedAtMs: EPOCH_MS, endpoints: [], gpus: null, claims: new Map(), faults: [] };
    assert.deepEqual(assemble(IDENTITY, round, new Map()), {
      v: 1,
      region: "eu-central",
      agent: "a1",
      boot: "b1",
      seq: 7,
      reportedAtMs: EPOCH_MS,
      gpus: [],
      models: [],
      links: [],
      faults: [],
      readings: [],
      mac: null,
    });
  });
  it("names GPUs and their faults by their source", () => {
    const gpu = { uuid: "GPU-a", memoryTotalBytes: 3, memoryUsedBytes: 2, memoryFreeBytes: null };
    const gpus = {
      users: new Map(),
      gpus: [gpu],
      faults: [{ source: "dcgm", field: "GPU-a memoryFreeBytes", code: "blank" }],
    };
    const report = assemble(
      IDENTITY,
      { seq: 1, reportedAtMs: EPOCH_MS, endpoints: [], gpus, claims: new Map(), faults: [] },
      new Map(),
    );
    assert.deepEqual(report.gpus, [gpu]);
    assert.deepEqual(report.faults, [{ source: "dcgm", field: "GPU-a memoryFreeBytes", code: "blank" }]);
  });
  it("names an engine's faults by its address, each once", () => {
    const broken = vllmPage([{ running: "NaN" }, { running: "NaN" }]);
    assert.deepEqual(reportOf([heard([answers(0, { metrics: answered(broken) })])]).faults, [
      { source: "10.0.0.5:8000", field: "requestsRunning", code: "not-finite" },
    ]);
  });
  it("has models in the order of their names, whatever the order of addresses", () => {
    const first = heard([answers(0, { metrics: answered(vllmPage().replaceAll(PAGE_MODEL, "b")) })], "auto", "h:1");
    const second = heard([answers(0, { metrics: answered(vllmPage().replaceAll(PAGE_MODEL, "a")) })], "auto", "h:2");
    assert.deepEqual(
      reportOf([first, second]).models.map(({ model }) => model),
      ["a", "b"],
    );
  });
});

describe("names that no report may hold", () => {
  const long = "x".repeat(400);
  it("cost the model its place, not the region its report", () => {
    const report = reportOf([heard([answers(0, { metrics: answered(vllmPage().replaceAll(PAGE_MODEL, long)) })])]);
    assert.deepEqual(report.models, []);
    assert.ok(report.faults.some(({ field, code }) => field === "model" && code === "too-long"));
    assert.deepEqual(RegionReport.parse(report), report);
  });
  it("cost a replica its place", () => {
    const report = reportOf([
      heard([answers(0, { metrics: answered(vllmPage().replaceAll('engine="0"', `engine="${long}"`)) })]),
    ]);
    assert.deepEqual(report.models[0]?.replicas, []);
    assert.deepEqual(RegionReport.parse(report), report);
  });
  it("cost an alias its place", () => {
    const models = answered(
      JSON.stringify({
        data: [
          { id: PAGE_MODEL, root: "r" },
          { id: long, root: "r" },
          { id: "short", root: "r" },
        ],
      }),
    );
    const report = reportOf([heard([answers(0, { models })])]);
    assert.deepEqual(report.models[0]?.aliases, ["short"]);
    assert.deepEqual(RegionReport.parse(report), report);
  });
});

describe("more faults than anybody reads", () => {
  it("are cut, and the cut is told", () => {
    const gpus = {
      users: new Map(),
      gpus: [],
      faults: Array.from({ length: 1_000 }, (_, at) => ({ source: "dcgm", field: `f${at}`, code: "missing" })),
    };
    const { faults } = assemble(
      IDENTITY,
      { seq: 1, reportedAtMs: EPOCH_MS, endpoints: [], gpus, claims: new Map(), faults: [] },
      new Map(),
    );
    assert.equal(faults.length, 200);
    assert.deepEqual(faults.at(-1), { source: "agent", field: "faults", code: "more-than-listed" });
  });
});
