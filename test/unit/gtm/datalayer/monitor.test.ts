/** When ages stand still, and what is told of a region's health. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMonitor, type MonitorFacts } from "#gtm/datalayer/monitor.ts";
import { NOW_MS } from "#test/support/builders.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aReport, aSite, heard, worldOf } from "#test/support/report-builders.ts";

const silentFor = (...agesMs: readonly number[]) =>
  agesMs.map((ageWhenHeardMs, at) => heard(aReport(["frankfurt", "paris", "virginia"][at] ?? ""), { ageWhenHeardMs }));
const facts = (wish: Partial<MonitorFacts> = {}): MonitorFacts => ({
  nowMs: NOW_MS,
  isStoreUp: true,
  reports: silentFor(100, 100, 100),
  ...wish,
});
const setUp = () => {
  const log = recordingLog();
  return { log, monitor: createMonitor({ log, staleAfterMs: 5_000 }) };
};

describe("ages", () => {
  it("go on while the store answers and regions report", () => {
    assert.deepEqual(setUp().monitor.freezes(facts()), []);
  });
  it("stand still while the store is away, and go on when it is back", () => {
    const { monitor, log } = setUp();
    const away = facts({ isStoreUp: false });
    assert.deepEqual(monitor.freezes(away), [{ fromMs: NOW_MS, toMs: null }]);
    assert.deepEqual(monitor.freezes({ ...away, nowMs: NOW_MS + 100 }), [{ fromMs: NOW_MS, toMs: null }]);
    const reporting = silentFor(100, 100, 100).map((one) => ({ ...one, heardAtMs: NOW_MS + 9_000 }));
    assert.deepEqual(monitor.freezes(facts({ nowMs: NOW_MS + 9_000, reports: reporting })), [
      { fromMs: NOW_MS, toMs: NOW_MS + 9_000 },
    ]);
    assert.deepEqual(
      log.lines.map(({ level, event, fields }) => [level, event, fields["cause"] ?? fields["frozenMs"]]),
      [
        ["warn", "ages.frozen", "store-away"],
        ["info", "ages.thawed", 9_000],
      ],
    );
  });
  it("stand still when two of three regions fell silent within 2 s", () => {
    const { monitor } = setUp();
    assert.equal(monitor.freezes(facts({ reports: silentFor(100, 6_000, 7_000) })).at(-1)?.toMs, null);
  });
  it("go on when one region alone is silent: its silence is its own", () => {
    assert.deepEqual(setUp().monitor.freezes(facts({ reports: silentFor(100, 100, 60_000) })), []);
  });
  it("stay frozen after the store came back empty, until most regions have reported again", () => {
    const { monitor } = setUp();
    monitor.freezes(facts({ isStoreUp: false }));
    assert.equal(monitor.freezes(facts({ reports: silentFor(8_000, 8_000, 8_000) })).at(-1)?.toMs, null);
    assert.equal(monitor.freezes(facts({ reports: silentFor(100, 8_000, 8_000) })).at(-1)?.toMs, null);
    assert.equal(monitor.freezes(facts({ reports: silentFor(100, 100, 8_000) })).at(-1)?.toMs, NOW_MS);
  });
  it("are frozen in few enough spans to be added up, however often the store comes and goes", () => {
    const { monitor } = setUp();
    let spans: readonly unknown[] = [];
    for (let i = 0; i < 1_000; i++) spans = monitor.freezes(facts({ nowMs: NOW_MS + i, isStoreUp: i % 2 === 0 }));
    assert.equal(spans.length, 32);
  });
});

describe("a change of health", () => {
  it("is told of once, as a warning unless it is for the better", () => {
    const { monitor, log } = setUp();
    const report = aReport("frankfurt");
    for (const ageWhenHeardMs of [100, 200, 6_000, 6_100, 31_000, 100]) {
      monitor.look(worldOf([heard(report, { ageWhenHeardMs })], { sites: [aSite("frankfurt")] }));
    }
    assert.deepEqual(
      log.lines.map(({ level, event, fields }) => [level, event, fields["from"], fields["to"], fields["reportAgeMs"]]),
      [
        ["info", "region.health", null, "healthy", 100],
        ["warn", "region.health", "healthy", "degraded", 6_000],
        ["warn", "region.health", "degraded", "silent", 31_000],
        ["info", "region.health", "silent", "healthy", 100],
      ],
    );
  });
});
