/** Laws of the world: the order of what was heard is irrelevant, no work is lost, every number is finite. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { SendTo } from "#gtm/domain/sends.ts";
import { assembleWorld, type WorldInputs } from "#gtm/domain/world-assembly.ts";
import { RegionReport } from "#shared/report.ts";
import { MODEL, NOW_MS, regionId, replicaId } from "#test/support/builders.ts";
import {
  aGpuReport,
  aModelReport,
  aReplicaReport,
  aReport,
  aSite,
  EPOCH_MS,
  heard,
  placementIn,
  worldInputs,
  worldOf,
} from "#test/support/report-builders.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 300) };
const NAMES = ["frankfurt", "paris", "virginia"] as const;

/** Mostly plausible, sometimes anything that the report's schema lets pass. */
const count = (usualMax: number): fc.Arbitrary<number | null> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.double({ min: 0, max: usualMax, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }) },
    { weight: 2, arbitrary: fc.constant(null) },
  );
const rate = (usualMax: number): fc.Arbitrary<number | null> =>
  count(usualMax).map((value) => (value === 0 ? null : value));
const fraction = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null });
const bytes = fc.option(fc.maxSafeNat(), { nil: null });

const replica = (region: string, at: number) =>
  fc
    .record({
      startedAtMs: fc.option(fc.double({ min: 1, max: EPOCH_MS * 2, noNaN: true }), { nil: null }),
      backlogMs: count(20_000),
      prefillLinMs: rate(1),
      prefillAttnMs: count(1e-5),
      kvCapacityTokens: count(1e6),
      kvPinnedTokens: count(1e6),
    })
    .map((wish) => aReplicaReport(region, at, wish));

const model = (region: string) =>
  fc
    .record({
      state: fc.constantFrom("loaded", "loaded", "loaded", "loading", "asleep", "on-disk", "down"),
      replicas: fc
        .integer({ min: 0, max: 3 })
        .chain((n) => fc.tuple(...Array.from({ length: n }, (_, at) => replica(region, at)))),
      kvCapacityTokens: count(1e6),
      kvCacheUsedFraction: fraction,
      requestsRunning: count(100),
      requestsWaiting: count(100),
      prefillTokensPerSecond: rate(20_000),
      prefillConfidence: fraction,
      itlMs: count(100),
      prefixHitFraction: fraction,
      newTokensPerSecond: count(50_000),
      ttftP50Ms: count(10_000),
      coldStartMs: count(100_000),
      weightBytes: bytes,
    } as const)
    .map((wish) => aModelReport(region, wish));

const report = (region: string, agentName: string): fc.Arbitrary<HeardReport> =>
  fc
    .record({
      models: fc.option(model(region), { nil: null, freq: 9 }),
      free: bytes,
      ageWhenHeardMs: fc.double({ min: 0, max: 40_000, noNaN: true }),
      heardAgoMs: fc.double({ min: 0, max: 3_000, noNaN: true }),
    })
    .map(({ models, free, ageWhenHeardMs, heardAgoMs }) =>
      heard(
        aReport(region, {
          agentName,
          models: models === null ? [] : [models],
          gpus: [aGpuReport("gpu0", { memoryFreeBytes: free })],
        }),
        { ageWhenHeardMs, heardAtMs: NOW_MS - heardAgoMs },
      ),
    );

const send: fc.Arbitrary<SendTo> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    at: fc.integer({ min: 0, max: 3 }),
    // Few moments, so that several arrive at the same.
    arrivesInMs: fc.integer({ min: -8, max: 2 }).map((quarter) => quarter * 250),
    workMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
  })
  .map(({ name, at, arrivesInMs, workMs }) => ({
    region: regionId(name),
    model: MODEL,
    send: { replica: at === 3 ? null : replicaId(name, at), arrivalAtMs: NOW_MS + arrivesInMs, workMs },
  }));

const inputs: fc.Arbitrary<WorldInputs> = fc
  .record({
    reports: fc
      .tuple(
        ...NAMES.flatMap((name) => ["a1", "a2"].map((agent) => fc.option(report(name, agent), { nil: null, freq: 4 }))),
      )
      .map((all) => all.filter((one): one is HeardReport => one !== null)),
    sends: fc.array(send, { maxLength: 20 }),
    live: fc.array(
      fc.record({
        region: fc.constantFrom(...NAMES.map(regionId)),
        model: fc.constant(MODEL),
        tokens: fc.double({ min: 0, max: 1e7, noNaN: true }),
      }),
      { maxLength: 6 },
    ),
  })
  .map((wish) => worldInputs(wish.reports, { ...wish, sites: NAMES.map((name) => aSite(name)) }));

const shuffled = (wish: WorldInputs): fc.Arbitrary<WorldInputs> => {
  const permuted = <T>(list: readonly T[]): fc.Arbitrary<T[]> =>
    fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
  return fc
    .record({
      sites: permuted(wish.sites),
      reports: permuted(wish.reports),
      sends: permuted(wish.sends),
      live: permuted(wish.live),
    })
    .map((order) => ({ ...wish, ...order }));
};

const numbersIn = (value: unknown): readonly number[] => {
  if (typeof value === "number") return [value];
  if (value instanceof Map) return [...value.values()].flatMap(numbersIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];
};

describe("a world", () => {
  it("does not depend on the order of regions, reports, sends and GTMs", () => {
    fc.assert(
      fc.property(
        inputs.chain((wish) => fc.tuple(fc.constant(wish), shuffled(wish))),
        ([one, other]) => {
          const [a, b] = [assembleWorld(one), assembleWorld(other)];
          assert.deepEqual({ ...b, regions: b.regions.toSorted((x, y) => (x.id < y.id ? -1 : 1)) }, a);
        },
      ),
      runs,
    );
  });

  it("comes out the same twice, also after another", () => {
    fc.assert(
      fc.property(inputs, inputs, (first, second) => {
        const next = { ...second, previous: assembleWorld(first), nowMs: NOW_MS + 100 };
        assert.deepEqual(assembleWorld(next), assembleWorld(next));
      }),
      runs,
    );
  });

  it("holds only finite numbers, 0 or more but for places and instants, whatever the reports hold", () => {
    fc.assert(
      fc.property(inputs, (wish) => {
        for (const { report: one } of wish.reports) assert.ok(RegionReport.safeParse(one).success);
        const { regions, models } = assembleWorld(wish);
        for (const value of numbersIn([regions, models])) assert.ok(Number.isFinite(value), `${value}`);
        for (const placement of regions.flatMap((region) => [...region.placements.values()])) {
          assert.ok(placement.sparePrefillTokensPerSecond > 0);
          assert.ok(placement.averageBacklogMs >= 0);
          assert.ok(placement.state !== "loaded" || placement.replicas.length > 0);
          for (const { backlogMs, speed } of placement.replicas)
            assert.ok(backlogMs >= 0 && speed.linMs > 0 && speed.attnMs >= 0);
        }
      }),
      runs,
    );
  });

  it("loses no work: a send that arrived after the report adds all of it, less one ms a ms", () => {
    const scene = fc.record({
      backlogMs: fc.double({ min: 0, max: 5_000, noNaN: true }),
      agedMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
      sends: fc.array(send, { maxLength: 6 }),
    });
    fc.assert(
      fc.property(scene, ({ backlogMs, agedMs, sends }) => {
        const only = heard(
          aReport("frankfurt", {
            models: [aModelReport("frankfurt", { replicas: [aReplicaReport("frankfurt", 0, { backlogMs })] })],
          }),
          { ageWhenHeardMs: agedMs },
        );
        const arrived = sends
          .filter(
            ({ region, send: { arrivalAtMs } }) =>
              region === "frankfurt" && arrivalAtMs > NOW_MS - agedMs && arrivalAtMs <= NOW_MS,
          )
          .sort((a, b) => a.send.arrivalAtMs - b.send.arrivalAtMs);
        let [expected, atMs] = [backlogMs, NOW_MS - agedMs];
        for (const { send: one } of arrived) {
          expected = Math.max(0, expected - (one.arrivalAtMs - atMs)) + one.workMs;
          atMs = one.arrivalAtMs;
        }
        expected = Math.max(0, expected - (NOW_MS - atMs));
        const found = placementIn(worldOf([only], { sends })).replicas[0]?.backlogMs ?? Number.NaN;
        assert.ok(Math.abs(found - expected) < 1e-6, `${found} instead of ${expected}`);
      }),
      runs,
    );
  });
});
