/** Which reports are heard, how old they are said to be, and which are not believed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createReports, type ReportsOptions } from "#gtm/datalayer/reports.ts";
import { agentsKey, KEYS, reportKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { signedWith } from "#shared/region-signature.ts";
import type { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const setUp = (wish: Partial<ReportsOptions> = {}) => {
  const clock = createManualClock();
  const store = createMemoryStore(clock);
  const [log, metrics] = [recordingLog(), createMetrics()];
  const news = { count: 0 };
  const reports = createReports({
    ...{ store, clock, log, metrics, reportKeys: new Map(), expiredAfterMs: 30_000 },
    regions: [regionId("frankfurt"), regionId("paris")],
    onHeard: () => {
      news.count += 1;
    },
    onFailed: (cause) => assert.fail(String(cause)),
    ...wish,
  });
  const publish = (report: RegionReport, announced = true) => publishReport(store, clock, report, announced);
  const refused = (reason: string, region = "frankfurt") =>
    metricValue(metrics, "gtm_reports_refused_total", { region, reason });
  return { clock, store, log, reports, news, publish, refused };
};

describe("a report that was put before we started", () => {
  it("is heard at the first resync, as old as the store says", async () => {
    const { clock, reports, publish } = setUp();
    await publish(aReport("frankfurt"));
    clock.advance(1_200);
    await reports.resync();
    assert.deepEqual(
      reports.heard().map(({ ageWhenHeardMs, heardAtMs }) => [ageWhenHeardMs, heardAtMs]),
      [[1_200, clock.monotonicMs()]],
    );
  });
});

describe("a report that is announced", () => {
  it("is heard at once, together with those announced in the same turn", async () => {
    const { reports, publish, news } = setUp();
    await reports.resync();
    await Promise.all([publish(aReport("frankfurt")), publish(aReport("paris"))]);
    await until(() => reports.heard().length === 2);
    assert.equal(news.count, 1);
  });
  it("is found by the next resync where the announcement was lost", async () => {
    const { reports, publish } = setUp();
    await reports.resync();
    await publish(aReport("frankfurt"), false);
    assert.equal(reports.heard().length, 0);
    await reports.resync();
    assert.equal(reports.heard().length, 1);
  });
  it("is no news when it has been heard already, and its age goes on from then", async () => {
    const { clock, reports, publish, news } = setUp();
    await publish(aReport("frankfurt", { seq: 7 }));
    await reports.resync();
    const firstHeardAtMs = reports.heard()[0]?.heardAtMs;
    clock.advance(2_000);
    await reports.resync();
    assert.equal(reports.heard()[0]?.heardAtMs, firstHeardAtMs);
    assert.equal(news.count, 1);
  });
  it("is heard after the agent restarted and counts from 1 again", async () => {
    const { reports, publish } = setUp();
    await publish(aReport("frankfurt", { seq: 900 }));
    await reports.resync();
    await publish(aReport("frankfurt", { boot: "b2", seq: 1, reportedAtMs: 42 }));
    await reports.resync();
    assert.equal(reports.heard()[0]?.report.reportedAtMs, 42);
  });
});

describe("a report that cannot be believed", () => {
  const refusals: readonly { what: string; reason: string; value: string }[] = [
    { what: "half a report", reason: "not-json", value: "{" },
    { what: "a count in words", reason: "schema", value: JSON.stringify({ ...aReport("frankfurt"), seq: "seven" }) },
    { what: "a version to come", reason: "version", value: JSON.stringify({ ...aReport("frankfurt"), v: 2 }) },
    { what: "another region's report", reason: "other-region", value: JSON.stringify(aReport("paris")) },
  ];
  for (const { what, reason, value } of refusals) {
    it(`such as ${what} is refused as ${reason}, counted each time, told of once, and the previous one ages on`, async () => {
      const { clock, store, log, reports, publish, refused } = setUp();
      await publish(aReport("frankfurt"));
      await reports.resync();
      const before = reports.heard();
      await store.put(reportKey(regionId("frankfurt"), aReport("frankfurt").agent), value, KEYS.report.ttlMs);
      clock.advance(1_000);
      await reports.resync();
      await reports.resync();
      assert.equal(await refused(reason), 2);
      assert.deepEqual(
        log.lines.map(({ level, event, fields }) => [level, event, fields["agent"], fields["reason"]]),
        [["warn", "report.refused", "frankfurt/a1", reason]],
      );
      assert.deepEqual(reports.heard(), before);
    });
  }
  it("is refused where its region is not configured, and its name becomes no label", async () => {
    const { reports, publish, refused } = setUp();
    await reports.resync();
    await publish(aReport("atlantis"));
    await until(async () => (await refused("unknown-region", "unknown")) === 1);
    assert.equal(reports.heard().length, 0);
  });
  it("is refused where the region has a key and the mac is not made with it", async () => {
    const key = Buffer.from("0123456789abcdef");
    const { reports, publish, refused } = setUp({ reportKeys: new Map([[regionId("frankfurt"), [key]]]) });
    await publish(aReport("frankfurt"));
    await publish(signedWith(aReport("frankfurt", { agentName: "a2" }), Buffer.from("another key, as long")));
    await publish(signedWith(aReport("frankfurt", { agentName: "a3" }), key));
    await reports.resync();
    assert.equal(await refused("signature"), 2);
    assert.deepEqual(
      reports.heard().map(({ report }) => report.agent),
      ["a3"],
    );
  });
  it("is accepted with either of its region's keys while the key changes", async () => {
    const [before, after] = [Buffer.from("0123456789abcdef"), Buffer.from("fedcba9876543210")];
    const { reports, publish, refused } = setUp({ reportKeys: new Map([[regionId("frankfurt"), [after, before]]]) });
    await publish(signedWith(aReport("frankfurt", { agentName: "a1" }), before));
    await publish(signedWith(aReport("frankfurt", { agentName: "a2" }), after));
    await publish(signedWith(aReport("frankfurt", { agentName: "a3" }), Buffer.from("another key, as long")));
    await reports.resync();
    assert.equal(await refused("signature"), 1);
    assert.deepEqual(
      reports.heard().map(({ report }) => report.agent),
      ["a1", "a2"],
    );
  });
});

describe("an agent that went away", () => {
  it("leaves its last report behind while the region has no newer one", async () => {
    const { clock, reports, publish, store } = setUp();
    await publish(aReport("frankfurt"));
    await reports.resync();
    clock.advance(700_000);
    await reports.resync();
    assert.equal(reports.heard().length, 1);
    assert.deepEqual(await store.indexRange(agentsKey(regionId("frankfurt")), 0, Number.MAX_SAFE_INTEGER), []);
  });
  it("is missed for ten minutes, and then forgotten beside another agent of the region", async () => {
    const { clock, reports, publish } = setUp();
    await publish(aReport("frankfurt", { agentName: "a1" }));
    await reports.resync();
    clock.advance(599_000);
    await publish(aReport("frankfurt", { agentName: "a2" }));
    await reports.resync();
    assert.equal(reports.heard().length, 2);
    clock.advance(2_000);
    await reports.resync();
    assert.deepEqual(
      reports.heard().map(({ report }) => report.agent),
      ["a2"],
    );
  });
  it("is known to be missing to a GTM that starts after its report expired", async () => {
    const { clock, reports, publish } = setUp();
    await publish(aReport("frankfurt", { agentName: "a1" }));
    clock.advance(31_000);
    await publish(aReport("frankfurt", { agentName: "a2" }));
    await reports.resync();
    assert.deepEqual(reports.regionsWithAbsentAgents(), ["frankfurt"]);
  });
});
