/** The world that decisions read, kept up to date. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createWorldSource } from "#gtm/datalayer/world-source.ts";
import type { WorldSourceOptions } from "#gtm/datalayer/world-source-options.ts";
import { NO_DRAINS } from "#gtm/domain/drain-schedule.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { InstanceId } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { MODEL, regionId } from "#test/support/builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import {
  aModel,
  aModelReport,
  aReplicaReport,
  aReport,
  aSite,
  placementIn,
  regionIn,
  UNTAUGHT,
} from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const SILENT = {
  look: () => {},
  said: () => ({ boot: "", version: "", says: null }),
  hear: () => {},
  sawDouble: () => {},
};
const NAMES = ["frankfurt", "paris", "virginia"];
const running: { readonly stop: () => Promise<void> }[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

const setUp = (wish: Partial<WorldSourceOptions> = {}) => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const [log, metrics] = [recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log: recordingLog(), metrics });
  const source = createWorldSource({
    ...{ store, clock, log, metrics, instance: InstanceId.parse("gtm-1"), policy: DEFAULT_POLICY, models: [aModel()] },
    failures: createStoreFailures({ log, metrics, clock }),
    degradations,
    onWiped: () => {},
    sites: NAMES.map((name) => aSite(name)),
    reportKeys: new Map(),
    probes: () => new Map(),
    admin: () => new Map(),
    overrides: () => [],
    drains: () => NO_DRAINS,
    live: () => [],
    learning: UNTAUGHT,
    cells: createCellRegions(clock),
    agreement: SILENT,
    ...wish,
  });
  running.push(source);
  const publish = (report: RegionReport, announced = true) => publishReport(store, clock, report, announced);
  const publishAll = (seq: number) => Promise.all(NAMES.map((name) => publish(aReport(name, { seq }))));
  return { clock, store, log, metrics, degradations, source, publish, publishAll };
};

describe("the world, before it is started", () => {
  it("has every region, and has heard of none", () => {
    const world = setUp().source.world();
    assert.deepEqual(
      world.regions.map(({ id, health, reportAgeMs }) => [id, health, reportAgeMs]),
      NAMES.map((name) => [name, "silent", null]),
    );
  });
});

describe("the world, once it is started", () => {
  it("has heard what was in the store before ready", async () => {
    const { source, publish } = setUp();
    await publish(aReport("frankfurt"));
    await source.start();
    assert.equal(regionIn(source.world(), "frankfurt").health, "healthy");
    assert.equal(source.world().isStoreUp, true);
  });
  it("is another object after a report, and the old one has not changed", async () => {
    const { source, publish, clock } = setUp();
    await publish(aReport("frankfurt"));
    await source.start();
    const before = source.world();
    const copy = structuredClone(before);
    clock.advance(1_000);
    await publish(aReport("frankfurt", { seq: 2, models: [aModelReport("frankfurt", { requestsRunning: 9 })] }));
    await until(() => placementIn(source.world()).requestsRunning === 9);
    assert.ok(source.world().version > before.version);
    assert.deepEqual(before, copy);
  });
  it("is renewed without any report, so that ages and backlogs go on", async () => {
    const { source, publish, clock } = setUp();
    await publish(
      aReport("frankfurt", {
        models: [aModelReport("frankfurt", { replicas: [aReplicaReport("frankfurt", 0, { backlogMs: 3_000 })] })],
      }),
    );
    await source.start();
    clock.advance(1_000);
    await until(() => regionIn(source.world(), "frankfurt").reportAgeMs === 1_000);
    assert.equal(placementIn(source.world()).replicas[0]?.backlogMs, 2_000);
  });
  it("finds a report whose announcement was lost within 2 s", async () => {
    const { source, publish, clock } = setUp();
    await source.start();
    await publish(aReport("frankfurt"), false);
    clock.advance(2_000);
    await until(() => regionIn(source.world(), "frankfurt").reportAgeMs !== null);
  });
  it("hears of an order at once", async () => {
    const admin = new Map<ReturnType<typeof regionId>, "drain-all">();
    const { source } = setUp({ admin: () => admin });
    await source.start();
    const { candidacyVersion } = source.world();
    admin.set(regionId("paris"), "drain-all");
    source.touch();
    await until(() => regionIn(source.world(), "paris").admin === "drain-all");
    assert.equal(source.world().candidacyVersion, candidacyVersion + 1);
  });
});

describe("a turn that is sent", () => {
  it("is in the world that the next decision reads, and in its backlog once it has arrived", async () => {
    const { source, publish, clock } = setUp();
    await publish(aReport("frankfurt"));
    await source.start();
    const { version } = source.world();
    const arrivalAtMs = clock.monotonicMs() + 50;
    source.send(regionId("frankfurt"), MODEL, { replica: null, arrivalAtMs, workMs: 900 });
    assert.equal(source.world().version, version);
    assert.equal(source.world().sends?.send.workMs, 900);
    clock.advance(150);
    await until(() => source.world().takenAtMs === clock.monotonicMs());
    assert.equal(source.world().sends, null);
    assert.equal(placementIn(source.world()).replicas[0]?.backlogMs, 800);
  });
  it("counts no more once a report made after its arrival has come", async () => {
    const { source, publish, clock } = setUp();
    await publish(aReport("frankfurt"));
    await source.start();
    source.send(regionId("frankfurt"), MODEL, { replica: null, arrivalAtMs: clock.monotonicMs() + 50, workMs: 60_000 });
    clock.advance(100);
    await publish(aReport("frankfurt", { seq: 2 }));
    await until(() => regionIn(source.world(), "frankfurt").reportAgeMs === 0);
    assert.equal(placementIn(source.world()).replicas[0]?.backlogMs, 0);
  });
});

describe("a store that goes away", () => {
  it("freezes ages, is told of once, counted, and warned of again only after 10 s", async () => {
    const { source, store, publishAll, clock, log, metrics } = setUp();
    await publishAll(1);
    await source.start();
    const told = (event: string, operation = "sent.sync") =>
      log.lines.filter((line) => line.event === event && (line.fields["operation"] ?? operation) === operation).length;
    const failed = () => metricValue(metrics, "gtm_store_failures_total", { operation: "sent.sync" });
    store.isAway = true;
    await until(() => told("store.away") === 1 && source.world().areAgesFrozen);
    await until(async () => (await failed()) >= 3);
    assert.equal(told("store.failed"), 1);
    clock.advance(60_000);
    await until(() => source.world().takenAtMs === clock.monotonicMs());
    assert.ok((regionIn(source.world(), "frankfurt").reportAgeMs ?? 0) < 1_000);
    assert.equal(regionIn(source.world(), "frankfurt").health, "healthy");
    await until(() => told("store.failed") === 2);
    assert.equal(told("store.away"), 1);
    assert.equal(told("ages.frozen"), 1);
    assert.equal(await metricValue(metrics, "gtm_store_up"), 0);
  });
  it("is back once it has been read: regions that report are healthy, one that does not goes on ageing", async () => {
    const { source, store, publish, publishAll, clock } = setUp();
    await publishAll(1);
    await source.start();
    store.isAway = true;
    await until(() => source.world().areAgesFrozen);
    clock.advance(60_000);
    store.isAway = false;
    await publish(aReport("frankfurt", { seq: 2 }));
    await publish(aReport("paris", { seq: 2 }));
    await until(() => source.world().isStoreUp && !source.world().areAgesFrozen);
    assert.equal(regionIn(source.world(), "paris").health, "healthy");
    clock.advance(29_000);
    await until(() => source.world().takenAtMs === clock.monotonicMs());
    assert.equal(regionIn(source.world(), "virginia").health, "degraded");
  });
  it("does not keep a GTM from starting: it knows nothing, and says so", async () => {
    const { source, store } = setUp();
    store.isAway = true;
    await source.start();
    assert.equal(source.world().isStoreUp, false);
    assert.equal(regionIn(source.world(), "frankfurt").reportAgeMs, null);
  });
});

describe("stopping", () => {
  it("leaves no timer behind: the world stands", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval"] });
    const { source } = setUp();
    await source.start();
    const { version } = source.world();
    test.mock.timers.tick(100);
    assert.equal(source.world().version, version + 1);
    await source.stop();
    test.mock.timers.tick(1_000);
    assert.equal(source.world().version, version + 1);
  });
});
