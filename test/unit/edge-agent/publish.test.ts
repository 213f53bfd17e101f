import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPublish } from "#edge-agent/publish.ts";
import { createAgentSignals } from "#edge-agent/signals.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey, reportedChannel, reportKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { LONGEST_REPORT, RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { answers, heard, reportOf } from "#test/support/edge-agent.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const REPORT = reportOf([heard([answers(0)])]);
const KEY = reportKey(RegionId.parse("eu-central"), AgentId.parse("a1"));
const LABELS = { region: "eu-central" };

const publisher = () => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const log = recordingLog();
  const metrics = createMetrics();
  const publish = createPublish({ store, clock, signals: createAgentSignals("eu-central", { clock, log, metrics }) });
  return { clock, store, log, metrics, publish };
};

describe("a report that is published", () => {
  it("stands under its key for 30 s, as it was made", async () => {
    const { store, publish, clock } = publisher();
    await publish(REPORT);
    const stored = await store.get(KEY);
    assert.deepEqual(RegionReport.parse(JSON.parse(stored?.value ?? "null")), REPORT);
    assert.equal(stored?.remainingMs, 30_000);
    clock.advance(30_000);
    assert.equal(await store.get(KEY), null);
  });
  it("is in the index of agents by the time of day", async () => {
    const { store, publish, clock } = publisher();
    await publish(REPORT);
    assert.deepEqual(await store.indexRange(agentsKey(REPORT.region), 0, Number.MAX_SAFE_INTEGER), [
      { member: "a1", score: clock.epochMs() },
    ]);
  });
  it("is announced, after it can be read", async () => {
    const { store, publish } = publisher();
    const announced = Promise.withResolvers<string>();
    await store.subscribe(reportedChannel(), announced.resolve);
    await publish(REPORT);
    assert.equal(await announced.promise, "eu-central/a1");
    assert.notEqual(await store.get(KEY), null);
  });
});

describe("a report that is longer than GTMs take", () => {
  it("is not put, and the agent says so", async () => {
    const { store, log, metrics, publish } = publisher();
    await publish({ ...REPORT, aside: "x".repeat(LONGEST_REPORT) });
    assert.equal(await store.get(KEY), null);
    assert.equal(await metricValue(metrics, "edge_agent_store_up", LABELS), 0);
    assert.match(String(log.lines[0]?.fields["reason"]), /take reports of \d+ characters at most/);
  });
});

describe("a store that is away", () => {
  it("is counted each time, warned of once a minute, and nothing is thrown", async () => {
    const { store, log, metrics, publish, clock } = publisher();
    store.isAway = true;
    for (let second = 0; second < 61; second++) {
      await publish(REPORT);
      clock.advance(1_000);
    }
    assert.equal(await metricValue(metrics, "edge_agent_reports_failed_total", LABELS), 61);
    assert.equal(await metricValue(metrics, "edge_agent_reports_put_total", LABELS), 0);
    assert.equal(await metricValue(metrics, "edge_agent_store_up", LABELS), 0);
    const warnings = log.lines.filter(({ event }) => event === "report.not-put");
    assert.deepEqual(
      warnings.map(({ level, fields }) => [level, fields["reason"]]),
      [
        ["warn", "put: the test took the store away"],
        ["warn", "put: the test took the store away"],
      ],
    );
  });
  it("gets only the newest report when it is back, and its return is told once", async () => {
    const { store, log, metrics, publish } = publisher();
    store.isAway = true;
    await publish({ ...REPORT, seq: 1 });
    await publish({ ...REPORT, seq: 2 });
    store.isAway = false;
    await publish({ ...REPORT, seq: 3 });
    await publish({ ...REPORT, seq: 4 });
    const stored = RegionReport.parse(JSON.parse((await store.get(KEY))?.value ?? "null"));
    assert.equal(stored.seq, 4);
    assert.equal(log.lines.filter(({ event }) => event === "store.recovered").length, 1);
    assert.equal(await metricValue(metrics, "edge_agent_store_up", LABELS), 1);
  });
});
