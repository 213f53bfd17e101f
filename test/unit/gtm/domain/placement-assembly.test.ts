/** One model in one region: averages, what is to spare, what is held. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { World } from "#gtm/domain/world.ts";
import type { WorldInputs } from "#gtm/domain/world-assembly.ts";
import type { ModelReport, ReplicaReport } from "#shared/report.ts";
import { MODEL, NOW_MS, regionId } from "#test/support/builders.ts";
import {
  aModelReport,
  aReplicaReport,
  aReport,
  aSite,
  EPOCH_MS,
  heard,
  placementIn,
  worldOf,
} from "#test/support/report-builders.ts";

const FRANKFURT = regionId("frankfurt");

/** Frankfurt alone, with one model report and perhaps other circumstances. */
const frankfurt = (model: Partial<ModelReport>, inputs: Partial<WorldInputs> = {}, how: Partial<HeardReport> = {}) =>
  worldOf([heard(aReport("frankfurt", { models: [aModelReport("frankfurt", model)] }), how)], inputs);
const replicas = (...wishes: Partial<ReplicaReport>[]): ReplicaReport[] =>
  wishes.map((wish, at) => aReplicaReport("frankfurt", at, wish));
const _backlogs = (world: World): readonly number[] => placementIn(world).replicas.map(({ backlogMs }) => backlogMs);

describe("the average backlog", () => {
  const busy = (previous: World | null, nowMs: number, backlogMs: number): World =>
    frankfurt({ replicas: replicas({ backlogMs }) }, { previous, nowMs }, { heardAtMs: nowMs });

  it("starts with the backlog itself", () => {
    assert.equal(placementIn(busy(null, NOW_MS, 600)).averageBacklogMs, 600);
  });
  it("has come 1 − 1/e of the way after 60 s, in one step or in sixty", () => {
    const start = busy(null, NOW_MS, 0);
    const oneStep = placementIn(busy(start, NOW_MS + 60_000, 1_000)).averageBacklogMs;
    let world = start;
    for (let second = 1; second <= 60; second++) world = busy(world, NOW_MS + second * 1_000, 1_000);
    assert.ok(Math.abs(oneStep - 1_000 * (1 - Math.exp(-1))) < 1e-9);
    assert.ok(Math.abs(placementIn(world).averageBacklogMs - oneStep) < 1e-9);
  });
});

describe("the long average backlog", () => {
  const busy = (previous: World | null, nowMs: number, backlogMs: number): World =>
    frankfurt({ replicas: replicas({ backlogMs }) }, { previous, nowMs }, { heardAtMs: nowMs });

  it("starts with nothing, whatever waits: what was seen once is no long queue", () => {
    assert.equal(placementIn(busy(null, NOW_MS, 600)).longAverageBacklogMs, 0);
  });
  it("has come 1 − 1/e of the way after five minutes", () => {
    const world = busy(busy(null, NOW_MS, 1_000), NOW_MS + 300_000, 1_000);
    assert.ok(Math.abs(placementIn(world).longAverageBacklogMs - 1_000 * (1 - Math.exp(-1))) < 1e-9);
  });
});

describe("what a placement has to spare", () => {
  it("is its whole rate where it computes nothing: two replicas of 5 000 tokens/s", () => {
    assert.equal(placementIn(frankfurt({ replicas: replicas({}, {}) })).sparePrefillTokensPerSecond, 10_000);
  });
  it("is half where two replicas compute 5 000 of their 10 000 tokens/s", () => {
    const world = frankfurt({ replicas: replicas({}, {}), newTokensPerSecond: 5_000 });
    assert.equal(placementIn(world).sparePrefillTokensPerSecond, 5_000);
  });
  it("never falls under a twentieth", () => {
    assert.equal(placementIn(frankfurt({ newTokensPerSecond: 50_000 })).sparePrefillTokensPerSecond, 250);
  });
});

describe("what is held", () => {
  const cases: readonly { when: string; site: Parameters<typeof aSite>[1]; n: number; expected: number }[] = [
    { when: "the in-region router keeps conversations on a replica", site: { hasAffinity: true }, n: 4, expected: 1 },
    { when: "a gateway does", site: { hasAffinity: false, hasGateway: true }, n: 4, expected: 1 },
    { when: "there is one replica", site: { hasAffinity: false }, n: 1, expected: 1 },
    { when: "a turn may go to any of four", site: { hasAffinity: false }, n: 4, expected: 0.25 },
  ];
  for (const { when, site, n, expected } of cases) {
    it(`is believed to ${expected} where ${when}`, () => {
      const world = frankfurt(
        { replicas: replicas(...Array.from({ length: n }, () => ({}))) },
        { sites: [aSite("frankfurt", site)] },
      );
      assert.equal(placementIn(world).heldCorrection, expected);
    });
  }
  it("is believed as far as observation has taught, which weighs as much as the prior at 80 000 tokens", () => {
    const taught = (weight: number) => {
      const tally = { weight, sum: 0.4 * weight, atMs: NOW_MS };
      return placementIn(frankfurt({}, { heldObserved: [{ region: FRANKFURT, model: MODEL, tally }] }));
    };
    assert.equal(taught(80_000).heldCorrection, 0.7);
    assert.equal(taught(80_000).isHeldCorrectionLearnt, true);
    assert.equal(taught(10_000).isHeldCorrectionLearnt, false);
    assert.ok(Math.abs(taught(8e9).heldCorrection - 0.4) < 1e-5);
  });
  it("is void before the engine's start, which is put on our clock by how long it had run", () => {
    const world = frankfurt({ replicas: replicas({ startedAtMs: EPOCH_MS - 10_000 }) }, {}, { ageWhenHeardMs: 400 });
    assert.equal(placementIn(world).replicas[0]?.startedAtMs, NOW_MS - 10_400);
  });
});
