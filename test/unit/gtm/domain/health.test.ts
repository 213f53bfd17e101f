/** What a region is called, given its reports and probes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSilenceOurs, type ProbeFact, probedOnce } from "#gtm/domain/health.ts";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { WorldInputs } from "#gtm/domain/world-assembly.ts";
import type { ModelReport, ReplicaReport } from "#shared/report.ts";
import { NOW_MS, regionId } from "#test/support/builders.ts";
import {
  aModelReport,
  aReplicaReport,
  aReport,
  aSite,
  heard,
  placementIn,
  regionIn,
  worldOf,
} from "#test/support/report-builders.ts";

const FRANKFURT = regionId("frankfurt");

/** Frankfurt alone, with one model report and perhaps other circumstances. */
const frankfurt = (model: Partial<ModelReport>, inputs: Partial<WorldInputs> = {}, how: Partial<HeardReport> = {}) =>
  worldOf([heard(aReport("frankfurt", { models: [aModelReport("frankfurt", model)] }), how)], inputs);
const _replicas = (...wishes: Partial<ReplicaReport>[]): ReplicaReport[] =>
  wishes.map((wish, at) => aReplicaReport("frankfurt", at, wish));
const _backlogs = (world: World): readonly number[] => placementIn(world).replicas.map(({ backlogMs }) => backlogMs);

describe("health", () => {
  const cases: readonly {
    when: string;
    inputs?: Partial<WorldInputs>;
    how?: Partial<HeardReport>;
    used?: number;
    expected: Region["health"];
  }[] = [
    { when: "the report is fresh and nothing was probed yet", expected: "healthy" },
    { when: "the report is 5 s old", how: { ageWhenHeardMs: 5_000 }, expected: "healthy" },
    { when: "the report is over 5 s old", how: { ageWhenHeardMs: 5_001 }, expected: "degraded" },
    { when: "the report is over 30 s old", how: { ageWhenHeardMs: 30_001 }, expected: "silent" },
    { when: "0.95 of the KV cache is in use", used: 0.95, expected: "degraded" },
    {
      when: "one probe failed",
      inputs: { probes: new Map([[FRANKFURT, { isDown: false, failedInARow: 1, goodInARow: 0 }]]) },
      expected: "degraded",
    },
    {
      when: "the probe found it down, whatever its reports say",
      inputs: { probes: new Map([[FRANKFURT, { isDown: true, failedInARow: 3, goodInARow: 0 }]]) },
      expected: "unhealthy",
    },
    {
      when: "the report would be 60 s old, but ages stand still since it was 2 s old",
      how: { heardAtMs: NOW_MS - 60_000, ageWhenHeardMs: 0 },
      inputs: { freezes: [{ fromMs: NOW_MS - 58_000, toMs: null }], isStoreUp: false },
      expected: "healthy",
    },
  ];
  for (const { when, inputs, how, used, expected } of cases) {
    it(`is ${expected} when ${when}`, () => {
      const world = frankfurt(used === undefined ? {} : { kvCacheUsedFraction: used }, inputs, how);
      assert.equal(regionIn(world, "frankfurt").health, expected);
    });
  }
  it("is silent, with age null and no placements, where no report was ever heard", () => {
    const region = regionIn(worldOf([], { sites: [aSite("frankfurt")] }), "frankfurt");
    assert.deepEqual([region.health, region.reportAgeMs, region.placements.size], ["silent", null, 0]);
  });
  it("goes on ageing from where it stood when the freeze is over", () => {
    const world = frankfurt(
      {},
      { freezes: [{ fromMs: NOW_MS - 50_000, toMs: NOW_MS - 1_000 }] },
      { heardAtMs: NOW_MS - 52_000 },
    );
    assert.equal(regionIn(world, "frankfurt").reportAgeMs, 3_000);
    assert.equal(world.areAgesFrozen, false);
  });
});

describe("a probe that falls after 3 failures and rises after 2 good ones", () => {
  const thresholds = { fall: 3, rise: 2 };
  const after = (results: string): ProbeFact | null =>
    [...results].reduce<ProbeFact | null>((fact, result) => probedOnce(fact, result === "+", thresholds), null);
  const cases: readonly { results: string; isDown: boolean }[] = [
    { results: "--", isDown: false },
    { results: "---", isDown: true },
    { results: "--+--", isDown: false },
    { results: "---+", isDown: true },
    { results: "---+-+", isDown: true },
    { results: "---++", isDown: false },
  ];
  for (const { results, isDown } of cases) {
    it(`is ${isDown ? "down" : "up"} after ${results}`, () => assert.equal(after(results)?.isDown, isDown));
  }
});

describe("regions that fall silent 5 s after their last report", () => {
  const isOurs = (agesMs: readonly number[]): boolean =>
    isSilenceOurs(
      agesMs.map((ageMs) => NOW_MS - ageMs),
      NOW_MS,
      5_000,
    );
  const cases: readonly { when: string; agesMs: readonly number[]; expected: boolean }[] = [
    { when: "all report", agesMs: [100, 600, 900], expected: false },
    { when: "one of three is silent", agesMs: [100, 600, 9_000], expected: false },
    { when: "two of three fell silent within 2 s", agesMs: [100, 7_000, 9_000], expected: true },
    { when: "two of three fell silent 3 s apart", agesMs: [100, 6_000, 9_000], expected: false },
    { when: "half of four fell silent at once", agesMs: [100, 100, 9_000, 9_000], expected: false },
    {
      when: "three of five fell silent together, long after a fourth",
      agesMs: [100, 7_000, 7_500, 8_000, 90_000],
      expected: true,
    },
    { when: "the only one is silent", agesMs: [6_000], expected: true },
    { when: "none ever reported", agesMs: [], expected: false },
  ];
  for (const { when, agesMs, expected } of cases) {
    it(`${expected ? "are silenced by us" : "speak for themselves"} when ${when}`, () =>
      assert.equal(isOurs(agesMs), expected));
  }
});
