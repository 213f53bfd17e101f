/** What the world makes of reports, orders and models. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { World } from "#gtm/domain/world.ts";
import type { WorldInputs } from "#gtm/domain/world-assembly.ts";
import { ModelId } from "#shared/ids.ts";
import type { ModelReport, ReplicaReport } from "#shared/report.ts";
import { MODEL, regionId } from "#test/support/builders.ts";
import {
  aGpuReport,
  aModel,
  aModelReport,
  aReplicaReport,
  aReport,
  heard,
  placementIn,
  regionIn,
  worldOf,
} from "#test/support/report-builders.ts";

const FRANKFURT = regionId("frankfurt");

/** Frankfurt alone, with one model report and perhaps other circumstances. */
const frankfurt = (model: Partial<ModelReport>, inputs: Partial<WorldInputs> = {}, how: Partial<HeardReport> = {}) =>
  worldOf([heard(aReport("frankfurt", { models: [aModelReport("frankfurt", model)] }), how)], inputs);
const replicas = (...wishes: Partial<ReplicaReport>[]): ReplicaReport[] =>
  wishes.map((wish, at) => aReplicaReport("frankfurt", at, wish));
const backlogs = (world: World): readonly number[] => placementIn(world).replicas.map(({ backlogMs }) => backlogMs);

describe("a region with two agents, one with 100 000 KV tokens half used, one with 300 000 a tenth used", () => {
  const agent = (name: string, at: number, model: Partial<ModelReport>, how: Partial<HeardReport> = {}) =>
    heard(
      aReport("frankfurt", {
        agentName: name,
        gpus: [aGpuReport("shared"), aGpuReport(name)],
        models: [aModelReport("frankfurt", { replicas: [aReplicaReport("frankfurt", at)], ...model })],
      }),
      how,
    );
  const small = {
    kvCapacityTokens: 100_000,
    kvCacheUsedFraction: 0.5,
    requestsRunning: 2,
    prefixHitFraction: 0.9,
    newTokensPerSecond: 100,
  };
  const large = {
    kvCapacityTokens: 300_000,
    kvCacheUsedFraction: 0.1,
    requestsRunning: 3,
    prefixHitFraction: 0.5,
    newTokensPerSecond: 300,
  };
  const both = worldOf([agent("a1", 0, small), agent("a2", 1, large)]);

  it("sums counts, tokens and capacity", () => {
    const placement = placementIn(both);
    assert.equal(placement.requestsRunning, 5);
    assert.equal(placement.kvCapacityTokens, 400_000);
    assert.equal(placement.newTokensPerSecond, 400);
    assert.equal(placement.replicas.length, 2);
  });
  it("weighs fractions by tokens: 0.2 of the cache is used, 0.6 of the prompts hit", () => {
    assert.ok(Math.abs((placementIn(both).kvCacheUsedFraction ?? 0) - 0.2) < 1e-12);
    assert.ok(Math.abs((placementIn(both).prefixHitFraction ?? 0) - 0.6) < 1e-12);
  });
  it("counts a GPU that both read once: three GPUs, 30 GB free of 240", () => {
    assert.equal(regionIn(both, "frankfurt").gpuMemoryFreeBytes, 30e9);
    assert.equal(regionIn(both, "frankfurt").gpuMemoryBytes, 240e9);
  });
  it("is as old as the older of the two reports", () => {
    const world = worldOf([agent("a1", 0, small, { ageWhenHeardMs: 700 }), agent("a2", 1, large)]);
    assert.equal(regionIn(world, "frankfurt").reportAgeMs, 700);
  });
  it("is partial and degraded once one of them is missing, and counts only the other", () => {
    const region = regionIn(
      worldOf([agent("a1", 0, small, { ageWhenHeardMs: 30_001 }), agent("a2", 1, large)]),
      "frankfurt",
    );
    assert.equal(region.isPartial, true);
    assert.equal(region.health, "degraded");
    assert.equal(region.reportAgeMs, 0);
    assert.equal(region.placements.get(MODEL)?.kvCapacityTokens, 300_000);
  });
  it("is partial while the store remembers an agent that was never heard", () => {
    const world = worldOf([agent("a1", 0, small)], { regionsWithAbsentAgents: [FRANKFURT] });
    assert.equal(regionIn(world, "frankfurt").isPartial, true);
  });
  it("hears the newer word on a replica that both report", () => {
    const busy = { replicas: [aReplicaReport("frankfurt", 0, { backlogMs: 500 })] };
    const world = worldOf([agent("a1", 0, busy), agent("a2", 0, {}, { ageWhenHeardMs: 100 })]);
    assert.deepEqual(backlogs(world), [500]);
  });
});

describe("models", () => {
  it("go by their configured id when an engine serves them under an alias", () => {
    const world = worldOf([
      heard(aReport("frankfurt", { models: [aModelReport("frankfurt", { model: ModelId.parse("llama") })] })),
    ]);
    assert.deepEqual([...regionIn(world, "frankfurt").placements.keys()], [MODEL]);
  });
  it("include an adapter that is configured as a model of its own", () => {
    const adapter = ModelId.parse("support-lora");
    const world = frankfurt(
      { adapters: ["support-lora", "other"] },
      { models: [aModel(), aModel({ id: adapter, aliases: [] })] },
    );
    assert.deepEqual([...regionIn(world, "frankfurt").placements.keys()], [MODEL, adapter]);
  });
  it("take weight and cold start from the configuration only where no report says", () => {
    const models = [aModel({ weightBytes: 1e9, coldStartMs: 5_000 })];
    const placement = placementIn(frankfurt({ weightBytes: null, coldStartMs: null }, { models }));
    assert.deepEqual([placement.weightBytes, placement.coldStartMs], [1e9, 5_000]);
    assert.equal(placementIn(frankfurt({}, { models })).weightBytes, 141e9);
  });
  it("know their least inter-token latency and where they are warm, without regions that are down", () => {
    const reports = [
      heard(aReport("frankfurt", { models: [aModelReport("frankfurt", { itlMs: 30 })] })),
      heard(aReport("paris", { models: [aModelReport("paris", { itlMs: 20 })] })),
      heard(aReport("virginia", { models: [aModelReport("virginia", { state: "on-disk", replicas: [] })] })),
    ];
    const world = worldOf(reports, { admin: new Map([[regionId("paris"), "down" as const]]) });
    assert.deepEqual(world.models.get(MODEL), { bestItlMs: 30 });
  });
  it("have a replica wherever they are loaded, also where the agent counts none", () => {
    assert.equal(placementIn(frankfurt({ replicas: [] })).replicas.length, 1);
  });
  it("sum the live tokens of all GTMs", () => {
    const live = [1_000, 2_500].map((tokens) => ({ region: FRANKFURT, model: MODEL, tokens }));
    assert.equal(placementIn(frankfurt({}, { live })).liveTokens, 3_500);
  });
});

describe("the candidacy version", () => {
  const before = frankfurt({});
  const after = (model: Partial<ModelReport>, inputs: Partial<WorldInputs> = {}, how: Partial<HeardReport> = {}) =>
    frankfurt(model, { previous: before, ...inputs }, how);
  const rule = { id: "o1", kind: "deny", region: "frankfurt", pool: "*", model: "*", tenant: "*" } as const;
  const shared = (was: number, is: number): World => {
    const at = (share: number) => ({ overrides: [{ ...rule, kind: "share", share } as const] });
    const first = { ...frankfurt({}, at(was)), version: before.version, candidacyVersion: before.candidacyVersion };
    return after({}, { previous: first, ...at(is) });
  };

  const cases: readonly { what: string; world: World; grows: boolean }[] = [
    { what: "a backlog changes", world: after({ replicas: replicas({ backlogMs: 9_000 }) }), grows: false },
    { what: "a report grows older, but not stale", world: after({}, {}, { ageWhenHeardMs: 4_000 }), grows: false },
    { what: "health changes", world: after({}, {}, { ageWhenHeardMs: 6_000 }), grows: true },
    {
      what: "an order changes",
      world: after({}, { admin: new Map([[FRANKFURT, "drain-new" as const]]) }),
      grows: true,
    },
    { what: "a placement's state changes", world: after({ state: "asleep" }), grows: true },
    {
      what: "a placement goes",
      world: worldOf([heard(aReport("frankfurt", { models: [] }))], { previous: before }),
      grows: true,
    },
    { what: "a report expires", world: after({}, {}, { ageWhenHeardMs: 31_000 }), grows: true },
    { what: "an override comes", world: after({}, { overrides: [rule] }), grows: true },
    { what: "a share is as it was", world: shared(0.2, 0.2), grows: false },
    { what: "a share is raised", world: shared(0.2, 0.4), grows: true },
  ];
  for (const { what, world, grows } of cases) {
    it(`${grows ? "grows" : "stays"} when ${what}`, () => {
      assert.equal(world.candidacyVersion, before.candidacyVersion + (grows ? 1 : 0));
      assert.equal(world.version, before.version + 1);
    });
  }
});

describe("the moment at which a region last began to serve", () => {
  const drained = { admin: new Map([[FRANKFURT, "drain-all" as const]]) };
  const first = frankfurt({});
  const next = (previous: World, wish: Partial<WorldInputs>, model: Partial<ModelReport> = {}): World =>
    frankfurt(model, { previous, nowMs: previous.takenAtMs + 1_000, ...wish });

  it("is that of the first world, and stays while nothing opens: a report, a drain, a placement that goes", () => {
    assert.equal(first.openedAtMs, first.takenAtMs);
    for (const world of [next(first, {}), next(first, drained), next(first, {}, { state: "asleep" })])
      assert.equal(world.openedAtMs, first.takenAtMs);
  });
  it("comes when a drain is taken back, a model is loaded, a region is heard for the first time", () => {
    for (const closed of [next(first, drained), next(first, {}, { state: "asleep" })]) {
      const opened = next(closed, {});
      assert.equal(opened.openedAtMs, opened.takenAtMs);
    }
    const two = [heard(aReport("frankfurt")), heard(aReport("paris"))];
    const wider = worldOf(two, { previous: first, nowMs: first.takenAtMs + 1_000 });
    assert.equal(wider.openedAtMs, wider.takenAtMs);
  });
});
