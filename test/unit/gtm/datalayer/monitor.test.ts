/** When ages stand still, and what is told of a region's health. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMonitor, type MonitorFacts } from "#gtm/datalayer/monitor.ts";
import { reportAgeMs } from "#gtm/domain/heard-report.ts";
import { NOW_MS, regionId } from "#test/support/builders.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aReport, aSite, heard, worldOf } from "#test/support/report-builders.ts";

const silentFor = (...agesMs: readonly number[]) =>
  agesMs.map((ageWhenHeardMs, at) => heard(aReport(["frankfurt", "paris", "virginia"][at] ?? ""), { ageWhenHeardMs }));
const facts = (wish: Partial<MonitorFacts> = {}): MonitorFacts => ({
  nowMs: NOW_MS,
  isStoreUp: true,
  unread: new Set(),
  reports: silentFor(100, 100, 100),
  ...wish,
});
const setUp = () => {
  const log = recordingLog();
  const monitor = createMonitor({ log, staleAfterMs: 5_000 });
  return { log, monitor, freezesOfAll: (wish: MonitorFacts) => monitor.freezes(wish).all };
};

describe("ages", () => {
  it("go on while the store answers and regions report", () => {
    assert.deepEqual(setUp().freezesOfAll(facts()), []);
  });
  it("stand still while the store is away, and go on when it is back", () => {
    const { freezesOfAll, log } = setUp();
    const away = facts({ isStoreUp: false });
    assert.deepEqual(freezesOfAll(away), [{ fromMs: NOW_MS, toMs: null }]);
    assert.deepEqual(freezesOfAll({ ...away, nowMs: NOW_MS + 100 }), [{ fromMs: NOW_MS, toMs: null }]);
    const reporting = silentFor(100, 100, 100).map((one) => ({ ...one, heardAtMs: NOW_MS + 9_000 }));
    assert.deepEqual(freezesOfAll(facts({ nowMs: NOW_MS + 9_000, reports: reporting })), [
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
    const { freezesOfAll } = setUp();
    assert.equal(freezesOfAll(facts({ reports: silentFor(100, 6_000, 7_000) })).at(-1)?.toMs, null);
  });
  it("go on when one region alone is silent: its silence is its own", () => {
    assert.deepEqual(setUp().freezesOfAll(facts({ reports: silentFor(100, 100, 60_000) })), []);
  });
  it("stay frozen after the store came back empty, until most regions have reported again", () => {
    const { freezesOfAll } = setUp();
    freezesOfAll(facts({ isStoreUp: false }));
    assert.equal(freezesOfAll(facts({ reports: silentFor(8_000, 8_000, 8_000) })).at(-1)?.toMs, null);
    assert.equal(freezesOfAll(facts({ reports: silentFor(100, 8_000, 8_000) })).at(-1)?.toMs, null);
    assert.equal(freezesOfAll(facts({ reports: silentFor(100, 100, 8_000) })).at(-1)?.toMs, NOW_MS);
  });
  it("are frozen in few enough spans to be added up, however often the store comes and goes", () => {
    const { freezesOfAll } = setUp();
    let spans: readonly unknown[] = [];
    for (let i = 0; i < 1_000; i++) spans = freezesOfAll(facts({ nowMs: NOW_MS + i, isStoreUp: i % 2 === 0 }));
    assert.equal(spans.length, 32);
  });
  it("stand still of a region that cannot be read, and of no other; its silence says nothing of the others", () => {
    const { monitor } = setUp();
    const paris = regionId("paris");
    monitor.freezes(facts());
    const away = monitor.freezes(
      facts({ nowMs: NOW_MS + 1_000, unread: new Set([paris]), reports: silentFor(100, 60_000, 100) }),
    );
    assert.deepEqual(away.all, []);
    assert.deepEqual([...away.byRegion], [[paris, [{ fromMs: NOW_MS + 1_000, toMs: null }]]]);
    const reporting = silentFor(100, 100, 100).map((one) => ({ ...one, heardAtMs: NOW_MS + 9_000 }));
    const back = monitor.freezes(facts({ nowMs: NOW_MS + 9_000, reports: reporting }));
    assert.deepEqual([...back.byRegion], [[paris, [{ fromMs: NOW_MS + 1_000, toMs: NOW_MS + 9_000 }]]]);
  });
  it("stand still in spans that do not overlap where all go away while one is unread", () => {
    const { monitor } = setUp();
    const unread = new Set([regionId("paris")]);
    monitor.freezes(facts({ isStoreUp: false }));
    monitor.freezes(facts({ nowMs: NOW_MS + 1_000 }));
    monitor.freezes(facts({ nowMs: NOW_MS + 2_000, unread }));
    monitor.freezes(facts({ nowMs: NOW_MS + 3_000, unread, isStoreUp: false }));
    const { all, byRegion } = monitor.freezes(facts({ nowMs: NOW_MS + 4_000 }));
    assert.deepEqual(all, [
      { fromMs: NOW_MS, toMs: NOW_MS + 1_000 },
      { fromMs: NOW_MS + 3_000, toMs: NOW_MS + 4_000 },
    ]);
    assert.deepEqual(byRegion.get(regionId("paris")), [
      { fromMs: NOW_MS, toMs: NOW_MS + 1_000 },
      { fromMs: NOW_MS + 2_000, toMs: NOW_MS + 4_000 },
    ]);
  });
  it("of what was saved stand still from before it was made until the store was read", () => {
    const { monitor, freezesOfAll } = setUp();
    monitor.holdFromStart();
    const saved = silentFor(100, 200).map((one) => ({ ...one, heardAtMs: NOW_MS - 7_200_000 }));
    const freezes = freezesOfAll(facts({ isStoreUp: false, reports: saved }));
    assert.deepEqual(
      saved.map((one) => reportAgeMs(one, NOW_MS + 60_000, freezes)),
      [100, 200],
    );
    const reporting = silentFor(0, 0).map((one) => ({ ...one, heardAtMs: NOW_MS + 60_000 }));
    const [thawed] = freezesOfAll(facts({ nowMs: NOW_MS + 60_000, reports: reporting }));
    assert.equal(thawed?.toMs, NOW_MS + 60_000);
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
