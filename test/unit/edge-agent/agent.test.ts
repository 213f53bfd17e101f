import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AgentSettings, createAgent } from "#edge-agent/agent.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import type { AgentPorts, EngineAnswers } from "#edge-agent/ports.ts";
import { createAgentSignals } from "#edge-agent/signals.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import { isSignedWith } from "#shared/region-signature.ts";
import type { RegionReport } from "#shared/report.ts";
import { ADDRESS, answered, answers } from "#test/support/edge-agent.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { vllmPage } from "#test/support/vllm-page.ts";

type Round = { readonly tookMs: number; readonly answer?: Partial<EngineAnswers> };

const round = (one: EngineAnswers) => ({
  engines: [{ address: ADDRESS, gpus: { uuids: [], pods: [] }, ...PLAIN, wish: "auto" }],
  answers: new Map([[ADDRESS, one]]),
  faults: [],
});

/** Runs the given rounds on a clock that each of them moves, and then stops. */
const runRounds = async (rounds: readonly Round[], wish: Partial<AgentSettings> = {}) => {
  const clock = createManualClock();
  const beganAtMs = clock.monotonicMs();
  const metrics = createMetrics();
  const stopping = new AbortController();
  const reports: RegionReport[] = [];
  const startedAtMs: number[] = [];
  const todo = [...rounds];
  const ports: AgentPorts = {
    clock,
    log: recordingLog(),
    signals: createAgentSignals("eu-central", { clock, log: recordingLog(), metrics }),
    scrapeEngines: async () => {
      startedAtMs.push(clock.monotonicMs() - beganAtMs);
      const { tookMs, answer } = todo.shift() ?? { tookMs: 0 };
      const atMs = clock.monotonicMs();
      clock.advance(tookMs);
      return round(answers(atMs, answer));
    },
    scrapeGpus: async () => null,
    scrapeGateways: async () => [],
    publish: async (report) => {
      reports.push(report);
    },
    waitUntil: async (atMs) => {
      if (todo.length === 0) stopping.abort();
      else clock.advance(Math.max(0, atMs - clock.monotonicMs()));
    },
  };
  const settings: AgentSettings = {
    identity: { region: RegionId.parse("eu-central"), agent: AgentId.parse("a1"), boot: "b1" },
    version: "0.1.0",
    intervalMs: 1_000,
    gpuUuids: [],
    models: new Map(),
    reportKey: null,
    ...wish,
  };
  let heard = 0;
  await createAgent(ports, settings).run(stopping.signal, () => {
    heard += 1;
  });
  return { reports, startedAtMs, metrics, heard };
};

describe("the agent's rounds", () => {
  it("begin each second on a grid, whatever each takes, and so do not drift", async () => {
    const { startedAtMs, heard } = await runRounds([{ tookMs: 300 }, { tookMs: 20 }, { tookMs: 999 }, { tookMs: 0 }]);
    assert.deepEqual(startedAtMs, [0, 1_000, 2_000, 3_000]);
    assert.equal(heard, 4);
  });
  it("never overlap: a round of 1 500 ms leaves the one in between out, which is counted", async () => {
    const { startedAtMs, metrics } = await runRounds([{ tookMs: 1_500 }, { tookMs: 10 }, { tookMs: 10 }]);
    assert.deepEqual(startedAtMs, [0, 2_000, 3_000]);
    assert.equal(await metricValue(metrics, "edge_agent_rounds_skipped_total", { region: "eu-central" }), 1);
  });
  it("number their reports from 1", async () => {
    const { reports } = await runRounds([{ tookMs: 1 }, { tookMs: 1 }, { tookMs: 1 }]);
    assert.deepEqual(
      reports.map(({ seq, boot }) => [seq, boot]),
      [
        [1, "b1"],
        [2, "b1"],
        [3, "b1"],
      ],
    );
  });
  it("know rates from the second one on", async () => {
    const later = { metrics: answered(vllmPage([{ outputTokens: 20_500 }])) };
    const { reports } = await runRounds([{ tookMs: 1 }, { tookMs: 1, answer: later }]);
    assert.deepEqual(
      reports.map(({ models }) => models[0]?.newTokensPerSecond),
      [null, 500],
    );
  });
});

describe("a report key", () => {
  it("signs every report; without one they are unsigned", async () => {
    const reportKey = new Uint8Array(32).fill(7);
    const signed = await runRounds([{ tookMs: 1 }], { reportKey });
    assert.ok(signed.reports[0]);
    assert.equal(isSignedWith(signed.reports[0], [reportKey]), true);
    const unsigned = await runRounds([{ tookMs: 1 }]);
    assert.equal(unsigned.reports[0]?.mac, null);
  });
});

describe("a stop while engines are being asked", () => {
  it("publishes nothing of what was cut short", async () => {
    const clock = createManualClock();
    const stopping = new AbortController();
    const published: RegionReport[] = [];
    const signals = createAgentSignals("eu-central", { clock, log: recordingLog(), metrics: createMetrics() });
    const ports: AgentPorts = {
      clock,
      log: recordingLog(),
      signals,
      scrapeEngines: async () => {
        stopping.abort();
        return round(answers(0));
      },
      scrapeGpus: async () => null,
      scrapeGateways: async () => [],
      publish: async (report) => {
        published.push(report);
      },
      waitUntil: async () => {},
    };
    const identity = { region: RegionId.parse("eu-central"), agent: AgentId.parse("a1"), boot: "b1" };
    const settings = {
      identity,
      version: "0.1.0",
      intervalMs: 1_000,
      gpuUuids: [],
      models: new Map(),
      reportKey: null,
    };
    await createAgent(ports, settings).run(stopping.signal, () => {});
    assert.deepEqual(published, []);
  });
});
