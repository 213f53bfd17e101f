/** Which agents were heard of, what their reports tell one after another, and what was refused of them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentSeen } from "#gtm/datalayer/agents-seen.ts";
import { createReports } from "#gtm/datalayer/reports.ts";
import { AgentId } from "#shared/ids.ts";
import { KEYS, reportKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aReport } from "#test/support/report-builders.ts";

const FRANKFURT = regionId("frankfurt");

const setUp = (keys: ReadonlyMap<string, readonly Uint8Array[]> = new Map()) => {
  const clock = createManualClock();
  const store = createMemoryStore(clock);
  const reports = createReports({
    ...{ store, clock, log: recordingLog(), metrics: createMetrics(), expiredAfterMs: 30_000 },
    reportKeys: keys as ReadonlyMap<typeof FRANKFURT, readonly Uint8Array[]>,
    regions: [FRANKFURT, regionId("paris")],
    onHeard: () => undefined,
    onFailed: (cause) => assert.fail(String(cause)),
  });
  const agents = () => reports.agents(() => []);
  const agent = (name: string): AgentSeen => {
    const found = agents().find((one) => one.agent === name);
    assert.ok(found !== undefined, `no agent ${name}`);
    return found;
  };
  /** Put, and heard by the resync that follows. */
  const hears = async (report: RegionReport): Promise<void> => {
    await publishReport(store, clock, { ...report, reportedAtMs: Math.round(clock.epochMs()) }, false);
    await reports.resync();
  };
  return { clock, store, reports, agents, agent, hears };
};

describe("an agent that reports every second", () => {
  it("is known with its interval, its age and its clock", async () => {
    const { clock, agent, hears } = setUp();
    for (let seq = 1; seq <= 3; seq++) {
      clock.advance(1_000);
      await hears(aReport("frankfurt", { seq }));
    }
    clock.advance(400);
    const { pulse, reportAgeMs, isListed, refusal } = agent("a1");
    assert.deepEqual([reportAgeMs, isListed, refusal], [400, true, null]);
    assert.deepEqual(
      [pulse?.intervalMs, pulse?.heardReports, pulse?.missedReports, pulse?.restarts, pulse?.clockAheadMs],
      [1_000, 3, 0, 0, 0],
    );
  });
  it("has missed the numbers that its reports pass over, which make the interval no longer", async () => {
    const { clock, agent, hears } = setUp();
    await hears(aReport("frankfurt", { seq: 1 }));
    clock.advance(4_000);
    await hears(aReport("frankfurt", { seq: 5 }));
    assert.deepEqual([agent("a1").pulse?.missedReports, agent("a1").pulse?.intervalMs], [3, 1_000]);
  });
  it("has a clock that is 90 s ahead of ours where its reports say so", async () => {
    const { clock, store, reports, agent } = setUp();
    const report = aReport("frankfurt", { reportedAtMs: Math.round(clock.epochMs()) + 90_000 });
    await publishReport(store, clock, report, false);
    clock.advance(700);
    await reports.resync();
    assert.equal(agent("a1").pulse?.clockAheadMs, 90_000);
  });
});

describe("processes under one agent's name", () => {
  it("that follow one another are restarts", async () => {
    const { clock, agent, hears } = setUp();
    for (const boot of ["b1", "b2", "b3"]) {
      clock.advance(1_000);
      await hears(aReport("frankfurt", { boot }));
    }
    assert.deepEqual([agent("a1").pulse?.restarts, agent("a1").pulse?.doubledAtMs], [2, null]);
  });
  it("that take turns are two at once", async () => {
    const { clock, agent, hears } = setUp();
    for (const [boot, seq] of [
      ["b1", 1],
      ["b2", 1],
      ["b1", 2],
    ] as const) {
      clock.advance(1_000);
      await hears(aReport("frankfurt", { boot, seq }));
    }
    assert.equal(agent("a1").pulse?.doubledAtMs, clock.epochMs());
  });
});

describe("an agent that is not believed", () => {
  const refuse = async ({ store, reports }: ReturnType<typeof setUp>, value: string) => {
    await store.put(reportKey(FRANKFURT, AgentId.parse("a1")), value, KEYS.report.ttlMs);
    await reports.resync();
  };
  it("is listed with the reason, what was wrong, and how often it was seen", async () => {
    const gtm = setUp();
    await gtm.hears(aReport("frankfurt"));
    gtm.clock.advance(1_000);
    await refuse(gtm, "{");
    await refuse(gtm, "{");
    const { refusal, report } = gtm.agent("a1");
    assert.equal(report?.seq, 1);
    assert.deepEqual(refusal, {
      ...{ region: "frankfurt", count: 2, reason: "not-json", detail: "the value is no JSON" },
      ...{ atMs: gtm.clock.epochMs(), isStanding: true },
    });
  });
  it("is remembered to have been refused when it is believed again", async () => {
    const gtm = setUp();
    await gtm.hears(aReport("frankfurt"));
    await refuse(gtm, "{");
    await gtm.hears(aReport("frankfurt", { seq: 2 }));
    assert.deepEqual([gtm.agent("a1").refusal?.isStanding, gtm.agent("a1").refusal?.count], [false, 1]);
  });
  it("is there although no report of it was ever believed", async () => {
    const gtm = setUp(new Map([["frankfurt", [Buffer.from("0123456789abcdef")]]]));
    await gtm.hears(aReport("frankfurt"));
    const { report, refusal, pulse, isKeyKnown } = gtm.agent("a1");
    assert.deepEqual([report, refusal?.reason, pulse, isKeyKnown], [null, "signature", null, true]);
  });
});

describe("the agents of all regions", () => {
  it("come in the order of the configuration, and a listed one without a report among them", async () => {
    const { store, reports, agents, hears, clock } = setUp();
    await hears(aReport("paris", { agentName: "p1" }));
    await hears(aReport("frankfurt", { agentName: "f2" }));
    await hears(aReport("frankfurt", { agentName: "f1" }));
    await publishReport(store, clock, aReport("frankfurt", { agentName: "gone" }), false);
    await store.remove(reportKey(FRANKFURT, AgentId.parse("gone")));
    await reports.resync();
    assert.deepEqual(
      agents().map(({ region, agent, report }) => [region, agent, report === null]),
      [
        ["frankfurt", "f1", false],
        ["frankfurt", "f2", false],
        ["frankfurt", "gone", true],
        ["paris", "p1", false],
      ],
    );
  });
});
