/** Who is in service, missing or gone, whatever clocks say; and how much a region may make us remember. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAgentIndex, MOST_AGENTS } from "#gtm/datalayer/agent-index.ts";
import type { Reports } from "#gtm/datalayer/reports.ts";
import { createReports } from "#gtm/datalayer/reports.ts";
import { AgentId } from "#shared/ids.ts";
import { agentsKey, KEYS, reportedChannel, reportKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { LONGEST_REPORT } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { regionId } from "#test/support/builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const HOUR_MS = 3_600_000;
const FRANKFURT = regionId("frankfurt");
const PARIS = regionId("paris");

const setUp = () => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const [log, metrics] = [recordingLog(), createMetrics()];
  const reports = createReports({
    ...{ store, clock, log, metrics, reportKeys: new Map(), expiredAfterMs: 30_000, regions: [FRANKFURT, PARIS] },
    onHeard: () => {},
    onFailed: (cause) => assert.fail(String(cause)),
  });
  const refused = (reason: string, region = "frankfurt") =>
    metricValue(metrics, "gtm_reports_refused_total", { region, reason });
  /** Reports and lists itself as an agent does whose time of day is this far off. */
  const report = async (name: string, offMs = 0, seq = 1, region = "frankfurt"): Promise<void> => {
    const agentClock = { ...clock, epochMs: () => clock.epochMs() + offMs };
    await publishReport(store, agentClock, aReport(region, { agentName: name, seq }));
  };
  const listed = async (): Promise<readonly string[]> =>
    (await store.indexRange(agentsKey(FRANKFURT), Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)).map(
      ({ member }) => member,
    );
  return { clock, store, log, reports, refused, report, listed };
};

const agentsIn = (reports: Reports): readonly string[] => reports.heard().map(({ report }) => report.agent);

describe("an agent whose clock is an hour off", () => {
  for (const [which, offMs] of [
    ["behind", -HOUR_MS],
    ["ahead", HOUR_MS],
  ] as const) {
    it(`(${which}) is heard with the age that the store says`, async () => {
      const { clock, reports, report } = setUp();
      await report("a1", offMs);
      clock.advance(1_500);
      await reports.resync();
      assert.deepEqual(
        reports.heard().map(({ ageWhenHeardMs }) => ageWhenHeardMs),
        [1_500],
      );
    });
    it(`(${which}) is missed when it stops, and after ten minutes no more`, async () => {
      const { clock, reports, report, listed } = setUp();
      await report("a1", offMs);
      await reports.resync();
      for (const [passedMs, isListed] of [
        [31_000, true],
        [560_000, true],
        [10_000, false],
      ] as const) {
        clock.advance(passedMs);
        await report("a2");
        await reports.resync();
        assert.deepEqual(await listed(), isListed ? (offMs < 0 ? ["a1", "a2"] : ["a2", "a1"]) : ["a2"]);
      }
      assert.deepEqual(agentsIn(reports), ["a2"]);
    });
  }
  it("is not mistaken by a GTM whose own clock is a day off", async () => {
    const { clock, reports, report, listed } = setUp();
    clock.setEpochMs(clock.epochMs() + 24 * HOUR_MS);
    await report("a1", -24 * HOUR_MS);
    await reports.resync();
    clock.advance(31_000);
    await reports.resync();
    assert.deepEqual(await listed(), ["a1"]);
  });
});

describe("an agent that lies", () => {
  it("about agents that do not exist makes its own region partial and no other", async () => {
    const { store, reports, report } = setUp();
    await report("paris-1", 0, 1, "paris");
    for (const name of ["ghost", "paris-2"]) await store.indexAdd(agentsKey(FRANKFURT), name, 1);
    await reports.resync();
    assert.deepEqual(reports.regionsWithAbsentAgents(), ["frankfurt"]);
  });
  it("with a name that nobody may have is taken off the list, and counted", async () => {
    const { store, reports, refused, listed } = setUp();
    await store.indexAdd(agentsKey(FRANKFURT), "../../etc", 1);
    await reports.resync();
    assert.deepEqual(await listed(), []);
    assert.equal(await refused("no-name"), 1);
  });
  it("that lists more agents than a region has hosts is read as far as that, which is counted", async () => {
    const clock = createManualClock();
    const store = createMemoryStore(clock);
    const crowded: string[] = [];
    const index = createAgentIndex({
      ...{ store, clock, regions: [FRANKFURT] },
      agentOf: (member) => ({ member, region: FRANKFURT, agent: AgentId.parse(member.split("/")[1]) }),
      onCrowded: (region) => crowded.push(region),
    });
    for (let at = 0; at <= MOST_AGENTS; at++) await store.indexAdd(agentsKey(FRANKFURT), `ghost-${at}`, at);
    const { agents } = await index.list();
    assert.equal(agents.length, MOST_AGENTS);
    assert.deepEqual(crowded, ["frankfurt"]);
  });
  it("with a report that is too long is refused unread, and not read again until the next resync", async () => {
    const { store, reports, report, refused } = setUp();
    await report("a1");
    await reports.resync();
    const [key, long] = [reportKey(FRANKFURT, AgentId.parse("a1")), "x".repeat(LONGEST_REPORT + 1)];
    await store.put(key, long, KEYS.report.ttlMs);
    await store.announce(reportedChannel(), "frankfurt/a1");
    await until(async () => (await refused("too-large")) === 1, "the refusal");
    const reads = store.calls["get"];
    await store.announce(reportedChannel(), "frankfurt/a1");
    await report("a2", 0, 1);
    await until(() => agentsIn(reports).includes("a2"), "another agent's report");
    assert.equal(store.calls["get"], (reads ?? 0) + 1);
    assert.equal(await refused("too-large"), 1);
    await report("a1", 0, 2);
    await reports.resync();
    assert.deepEqual(
      reports
        .heard()
        .map(({ report: one }) => one.seq)
        .sort(),
      [1, 2],
    );
  });
  it("with long reports under many names is kept as far as its region's share", async () => {
    const { store, reports, report, refused } = setUp();
    await report("paris-1", 0, 1, "paris");
    for (let at = 0; at < 40; at++) {
      const padded = { ...aReport("frankfurt", { agentName: `fat-${at}` }), padding: "x".repeat(200_000) };
      await store.put(reportKey(FRANKFURT, padded.agent), JSON.stringify(padded), KEYS.report.ttlMs);
      await store.indexAdd(agentsKey(FRANKFURT), padded.agent, at);
    }
    await reports.resync();
    const kept = agentsIn(reports);
    assert.equal(kept.filter((name) => name.startsWith("fat-")).length, 2);
    assert.ok(kept.includes("paris-1"));
    assert.equal(await refused("too-many"), 38);
  });
  it("whose report never expires is refused, since its age could not be told", async () => {
    const { store, reports, refused } = setUp();
    await store.indexAdd(agentsKey(FRANKFURT), "a1", 1);
    for (const ttlMs of [null, KEYS.report.ttlMs + 1]) {
      await store.put(reportKey(FRANKFURT, AgentId.parse("a1")), JSON.stringify(aReport("frankfurt")), ttlMs);
      await reports.resync();
    }
    assert.equal(await refused("time-to-live"), 2);
    assert.deepEqual(reports.heard(), []);
  });
  it("under two hundred names is told of fifty times, and counted each time", async () => {
    const { store, log, reports, refused } = setUp();
    for (let at = 0; at < MOST_AGENTS; at++) {
      const agent = AgentId.parse(`ghost-${at}`);
      await store.put(reportKey(FRANKFURT, agent), "{", KEYS.report.ttlMs);
      await store.indexAdd(agentsKey(FRANKFURT), agent, at);
    }
    await reports.resync();
    await reports.resync();
    assert.equal(await refused("not-json"), 2 * MOST_AGENTS);
    assert.equal(log.lines.filter(({ event }) => event === "report.refused").length, 50);
  });
});

describe("a list that cannot be read", () => {
  it("is remembered as it was, and said to be unread", async () => {
    const { store, reports, report } = setUp();
    await report("a1");
    await reports.resync();
    store.isAway = true;
    const { isAnswered, fault } = await reports.resync();
    assert.equal(isAnswered, false);
    assert.match(fault ?? "", /who reports in frankfurt and paris is not listed/);
    store.isAway = false;
    assert.equal((await reports.resync()).fault, null);
  });
});
