/** The agent against engines that live, restart, lie and misbehave, on a store in memory. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AgentConfig, startAgent } from "#edge-agent/main.ts";
import { systemClock } from "#shared/clock.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey, reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { RegionReport } from "#shared/report.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { codesIn, onlyModelOf } from "#test/support/edge-agent.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { metricValue } from "#test/support/metric-value.ts";
import {
  brokenOff,
  dripping,
  huge,
  type ScriptedEngine,
  startScriptedEngine,
  whole,
} from "#test/support/scripted-engine.ts";
import { until } from "#test/support/until.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const configOf = (engines: readonly ScriptedEngine[], wish: Record<string, unknown> = {}): AgentConfig =>
  AgentConfig.parse({
    version: 1,
    region: "eu-central",
    agent: "a1",
    store: { url: "memory:" },
    report: { interval: "200ms" },
    engines: engines.map(({ origin }) => ({ url: origin })),
    ...wish,
  });

const newestIn = async (store: Store, region = "eu-central", agent = "a1"): Promise<RegionReport> => {
  const stored = await store.get(reportKey(RegionId.parse(region), AgentId.parse(agent)));
  assert.ok(stored, `no report of ${region}`);
  return RegionReport.parse(JSON.parse(stored.value));
};

type Started = AsyncDisposable & {
  readonly store: Store;
  readonly metrics: Metrics;
  /** The first report that is as told; every one on the way passes the schema. */
  readonly reportWhere: (isSo: (report: RegionReport) => boolean) => Promise<RegionReport>;
};

const start = async (
  engines: readonly ScriptedEngine[],
  wish: Record<string, unknown> = {},
  store: Store = createMemoryStore(systemClock),
): Promise<Started> => {
  const metrics = createMetrics();
  const agent = await startAgent(configOf(engines, wish), store, { clock: systemClock, log: silentLogger, metrics });
  return {
    store,
    metrics,
    reportWhere: async (isSo) => {
      let report = await newestIn(store);
      await until(async () => {
        report = await newestIn(store);
        return isSo(report);
      }, "a report that shows it");
      return report;
    },
    [Symbol.asyncDispose]: agent.stop,
  };
};

describe("an agent beside one vLLM", () => {
  it("has put its first report when it is started", async () => {
    await using engine = await startScriptedEngine();
    await using agent = await start([engine]);
    const report = await newestIn(agent.store);
    assert.deepEqual([report.region, report.agent, report.mac], ["eu-central", "a1", null]);
    assert.equal(onlyModelOf(report).replicas[0]?.id, `${engine.address}/0`);
    const agents = await agent.store.indexRange(agentsKey(RegionId.parse("eu-central")), 0, Number.MAX_SAFE_INTEGER);
    assert.deepEqual(
      agents.map(({ member }) => member),
      ["a1"],
    );
  });

  it("knows rates once the counters moved, and starts over when the engine restarts", async () => {
    await using engine = await startScriptedEngine();
    engine.answers.set("/metrics", whole(enginePayload("vllm-v1-current.t0.prom")));
    await using agent = await start([engine]);
    assert.equal(onlyModelOf(await newestIn(agent.store)).prefixHitFraction, null);

    engine.answers.set("/metrics", whole(enginePayload("vllm-v1-current.t1.prom")));
    const moved = onlyModelOf(await agent.reportWhere((report) => onlyModelOf(report).prefixHitFraction !== null));
    assert.equal(moved.prefixHitFraction?.toFixed(6), "0.559322");
    assert.deepEqual([moved.requestsRunning, moved.requestsWaiting, moved.ttftP50Ms], [22, 4, 250]);
    assert.ok((moved.newTokensPerSecond ?? 0) > 0);
    assert.deepEqual(
      moved.replicas.map(({ startedAtMs }) => startedAtMs),
      [1_795_996_800_000, 1_795_996_800_000],
    );

    engine.answers.set("/metrics", whole(enginePayload("vllm-v1-after-restart.prom")));
    const restarted = onlyModelOf(await agent.reportWhere((report) => onlyModelOf(report).requestsRunning === 1));
    assert.deepEqual(
      restarted.replicas.map(({ startedAtMs }) => startedAtMs),
      [1_796_000_490_000, 1_796_000_490_000],
    );
    assert.equal(restarted.prefixHitFraction, 0);
    assert.ok((restarted.newTokensPerSecond ?? -1) >= 0);
  });

  const bad: readonly {
    readonly what: string;
    readonly answer: (sent: (bytes: number) => void) => Parameters<ScriptedEngine["answers"]["set"]>[1];
    readonly field: string;
    readonly code: string;
  }[] = [
    {
      what: "NaN",
      answer: () => whole(vllmPage([{ running: "NaN", waiting: "NaN", kvUsed: "NaN" }])),
      field: "requestsWaiting",
      code: "not-finite",
    },
    {
      what: "every series twice, with different values",
      answer: () =>
        whole(
          vllmPage([{ running: 1, waiting: 1, kvUsed: 0.1 }]) + vllmPage([{ running: 2, waiting: 2, kvUsed: 0.2 }]),
        ),
      field: "requestsWaiting",
      code: "duplicate",
    },
    {
      what: "a page cut inside a line",
      answer: () => whole(vllmPage().slice(0, -3)),
      field: "page",
      code: "half-sent",
    },
    { what: "a page that breaks off", answer: () => brokenOff(vllmPage()), field: "page", code: "half-sent" },
    { what: "50 MB", answer: (sent) => huge(50 * 1_048_576, sent), field: "page", code: "too-large" },
    { what: "a page by drops", answer: () => dripping(vllmPage()), field: "page", code: "timed-out" },
    { what: "an error", answer: () => whole("oops", 500), field: "page", code: "http-500" },
    {
      what: "a page of nobody known",
      answer: () => whole("somebody:requests 1\n"),
      field: "vllm:num_requests_waiting",
      code: "metrics-contract-broken",
    },
  ];
  for (const { what, answer, field, code } of bad) {
    it(`turns ${what} into nulls and the fault ${code}, and is back when the engine is`, async () => {
      await using engine = await startScriptedEngine();
      await using agent = await start([engine]);
      engine.answers.set(
        "/metrics",
        answer(() => {}),
      );
      const report = await agent.reportWhere((one) => codesIn(one, field).includes(code));
      for (const model of report.models) {
        const { requestsRunning, requestsWaiting, kvCacheUsedFraction, replicas } = model;
        assert.deepEqual([requestsRunning, requestsWaiting, kvCacheUsedFraction], [null, null, null]);
        assert.ok(replicas.every(({ backlogMs, kvPinnedTokens }) => backlogMs === null && kvPinnedTokens === null));
      }
      assert.ok((await metricValue(agent.metrics, "edge_agent_faults_total", { code })) > 0);

      engine.answers.delete("/metrics");
      const back = await agent.reportWhere((one) => one.faults.length === 0);
      assert.deepEqual([onlyModelOf(back).requestsRunning, onlyModelOf(back).requestsWaiting], [2, 0]);
    });
  }
});

describe("an agent beside two engines, one of which drips", () => {
  it("reports the other each time, no later than the deadline", async () => {
    await using quick = await startScriptedEngine();
    await using slow = await startScriptedEngine();
    slow.answers.set("/metrics", dripping(vllmPage()));
    await using agent = await start([quick, slow]);
    const first = await newestIn(agent.store);
    const second = await agent.reportWhere(({ seq }) => seq > first.seq);
    assert.deepEqual(
      second.faults.map(({ source, code }) => [source, code]),
      [[slow.address, "timed-out"]],
    );
    // 1.5 s of deadline, then the next point of the grid of 200 ms; the rest is what a busy machine takes.
    assert.ok(second.reportedAtMs - first.reportedAtMs < 4_000, `${second.reportedAtMs - first.reportedAtMs} ms`);
    const replicas = onlyModelOf(second).replicas.map(({ id, backlogMs }) => [id, backlogMs]);
    assert.deepEqual(
      replicas.find(([id]) => id === `${quick.address}/0`),
      [`${quick.address}/0`, 0],
    );
  });
});

describe("an agent beside engine and exporter", () => {
  it("reports the memory of the GPUs", async () => {
    await using engine = await startScriptedEngine();
    engine.answers.set("/dcgm", whole(enginePayload("dcgm-exporter.prom")));
    await using agent = await start([engine], { gpus: { dcgm_url: `${engine.origin}/dcgm` } });
    const { gpus } = await newestIn(agent.store);
    assert.deepEqual(
      gpus.map(({ memoryUsedBytes }) => memoryUsedBytes),
      [78_713_454_592, 78_713_454_592, 607_125_504, 0],
    );
  });
});

describe("an agent that dies and comes back", () => {
  it("has another boot and counts its reports from 1", async () => {
    await using engine = await startScriptedEngine();
    const store = createMemoryStore(systemClock);
    const before = await (async () => {
      await using agent = await start([engine], {}, store);
      return await agent.reportWhere(({ seq }) => seq >= 2);
    })();
    await using _ = await start([engine], {}, store);
    const after = await newestIn(store);
    assert.notEqual(after.boot, before.boot);
    assert.equal(after.seq, 1);
  });
  it("puts nothing any more once it is stopped", async () => {
    await using engine = await startScriptedEngine();
    const store = createFallibleStore(createMemoryStore(systemClock));
    await (await start([engine], {}, store))[Symbol.asyncDispose]();
    const calls = store.calls["put"];
    const requests = engine.requests.length;
    // A second agent's reports are the measure of the time in which the first would have put one.
    await using other = await start([engine], { agent: "a2" });
    await until(
      async () => (await newestIn(other.store, "eu-central", "a2")).seq >= 3,
      "three reports of another agent",
    );
    assert.equal(store.calls["put"], calls);
    assert.ok(engine.requests.length > requests);
  });
});

describe("a store that is away", () => {
  it("costs reports, which are counted, and gets the newest when it is back", async () => {
    await using engine = await startScriptedEngine();
    const store = createFallibleStore(createMemoryStore(systemClock));
    store.isAway = true;
    await using agent = await start([engine], {}, store);
    const region = { region: "eu-central" };
    await until(async () => (await metricValue(agent.metrics, "edge_agent_reports_failed_total", region)) >= 3);
    store.isAway = false;
    await until(async () => (await store.get(reportKey(RegionId.parse("eu-central"), AgentId.parse("a1")))) !== null);
    assert.ok((await newestIn(store)).seq >= 4);
  });
});

describe("three agents in one process on one store", () => {
  it("report three regions", async () => {
    await using engine = await startScriptedEngine();
    const store = createMemoryStore(systemClock);
    const regions = ["eu-central", "us-east", "ap-southeast"];
    const agents = await Promise.all(
      regions.map((region) =>
        startAgent(configOf([engine], { region }), store, {
          clock: systemClock,
          log: silentLogger,
          metrics: createMetrics(),
        }),
      ),
    );
    for (const region of regions) assert.equal((await newestIn(store, region)).region, region);
    await Promise.all(agents.map((agent) => agent.stop()));
  });
});
