/** A region in which vLLM, SGLang and llama.cpp serve one model beside each other, all simulated: what its agent reports, and what its check says. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Flavour } from "#deploy/demo/engine-simulator/flavour.ts";
import { check } from "#edge-agent/cli/check.ts";
import { scrapeOnce } from "#edge-agent/cli/scrape-once.ts";
import { AgentConfig, startAgent } from "#edge-agent/main.ts";
import { systemClock } from "#shared/clock.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import {
  QUICK_ENGINE,
  type RunningSimulator,
  SIMULATED_MODEL,
  startSimulator,
} from "#test/support/engine-simulators.ts";
import { until } from "#test/support/until.ts";

const FLAVOURS: readonly Flavour[] = ["vllm", "sglang", "llama-cpp"];
const start = (flavour: Flavour): Promise<RunningSimulator> =>
  startSimulator({ flavour, replicas: flavour === "llama-cpp" ? 1 : 2, engine: { ...QUICK_ENGINE, maxRunning: 8 } });

const configOf = (simulators: readonly RunningSimulator[]): AgentConfig =>
  AgentConfig.parse({
    version: 1,
    region: "eu-central",
    agent: "a1",
    store: { url: "memory:" },
    report: { interval: "200ms" },
    engines: simulators.map(({ origin }) => ({ url: origin })),
  });

/** One turn of a conversation that has said `text` so far. @returns prompt and cached tokens as the engine tells them */
const turn = async ({ json }: RunningSimulator, text: string) => {
  const asked = { model: SIMULATED_MODEL, messages: [{ role: "user", content: text }], max_tokens: 16 };
  const { usage, timings } = (await json("/v1/chat/completions", asked)) as {
    usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
    timings?: { cache_n: number; prompt_n: number };
  };
  return { promptTokens: usage.prompt_tokens, cachedTokens: usage.prompt_tokens_details.cached_tokens, timings };
};
const LONG = "a word and another ".repeat(400);

const heard = async (act: typeof check | typeof scrapeOnce, config: AgentConfig) => {
  let printed = "";
  let told = "";
  const io = {
    print: (text: string) => {
      printed += text;
    },
    tell: (text: string) => {
      told += text;
    },
    env: {},
  };
  let exitCode = 0;
  try {
    if (act === check) await check(config, "agent.yaml", systemClock, io);
    else await scrapeOnce(config, systemClock, io);
  } catch (error) {
    exitCode = (error as { exitCode?: number }).exitCode ?? -1;
  }
  return { printed, told, exitCode };
};

describe("a region with three kinds of engines", () => {
  it("is one model of four replicas, and what each engine says of its conversations comes together", async () => {
    const simulators = await Promise.all(FLAVOURS.map(start));
    const metrics = createMetrics();
    const store = createMemoryStore(systemClock);
    const agent = await startAgent(configOf(simulators), store, { clock: systemClock, log: silentLogger, metrics });
    try {
      const newest = async (): Promise<RegionReport> => {
        const stored = await store.get(reportKey(RegionId.parse("eu-central"), AgentId.parse("a1")));
        assert.ok(stored);
        return RegionReport.parse(JSON.parse(stored.value));
      };
      const first = await newest();
      assert.deepEqual(
        first.models.map(({ model, state, requestsRunning, requestsWaiting }) => [
          ...[model, state],
          ...[requestsRunning, requestsWaiting],
        ]),
        [[SIMULATED_MODEL, "loaded", 0, 0]],
      );
      // SGLang's ranks are one replica: a client does not choose among them.
      assert.equal(first.models[0]?.replicas.length, 4);
      assert.ok(first.models[0]?.replicas.every(({ kvCapacityTokens }) => (kvCapacityTokens ?? 0) > 0));

      for (const simulator of simulators) {
        const opening = await turn(simulator, LONG);
        const followUp = await turn(simulator, `${LONG}and one more`);
        assert.equal(opening.cachedTokens, 0);
        assert.ok(followUp.cachedTokens > 0.9 * followUp.promptTokens);
      }
      let report = await newest();
      await until(async () => {
        report = await newest();
        return (report.models[0]?.prefixHitFraction ?? 0) > 0.4 && (report.models[0]?.newTokensPerSecond ?? 0) > 0;
      }, "hits of all three");
      // Half of what was asked had been asked before.
      assert.ok((report.models[0]?.prefixHitFraction ?? 1) < 0.6);
      assert.ok((report.models[0]?.prefillTokensPerSecond ?? 0) > 0);
    } finally {
      await agent.stop();
      await Promise.all(simulators.map((simulator) => simulator[Symbol.asyncDispose]()));
    }
  });
});

describe("an engine without metrics", () => {
  const remedies: readonly (readonly [Flavour, RegExp])[] = [
    ["vllm", /problem {2}\S+: page: http-404\. .*without --disable-log-stats/],
    ["sglang", /problem {2}\S+: page: http-404\. .*--enable-metrics/],
    ["llama-cpp", /problem {2}\S+: requestsWaiting: metrics-disabled\. .*--metrics/],
  ];
  for (const [flavour, remedy] of remedies) {
    it(`of ${flavour} is told with the flag that gives them, and the check ends with 7`, async () => {
      await using simulator = await start(flavour);
      const well = await heard(check, configOf([simulator]));
      assert.deepEqual([well.exitCode, well.printed.includes("problem")], [0, false], well.printed);
      assert.match(well.printed, new RegExp(`^ +\\S+: ${flavour}$`, "m"));
      await simulator.json("/sim/mode", { no_metrics: true });
      const { printed, exitCode } = await heard(check, configOf([simulator]));
      assert.equal(exitCode, 7, printed);
      assert.match(printed, remedy);
    });
  }
});

describe("scrape --once", () => {
  const froms: readonly (readonly [Flavour, RegExp])[] = [
    ["vllm", /requestsWaiting +0 {2}from vllm:num_requests_waiting$/m],
    ["sglang", /requestsWaiting +0 {2}from sglang:num_queue_reqs$/m],
    ["llama-cpp", /kvCacheUsedFraction +0 {2}from \/slots/m],
  ];
  for (const [flavour, from] of froms) {
    it(`of ${flavour} says of each field where it is from, or why it is not known`, async () => {
      await using simulator = await start(flavour);
      const { printed, told } = await heard(scrapeOnce, configOf([simulator]));
      assert.equal(RegionReport.parse(JSON.parse(printed)).models.length, 1);
      assert.match(told, from);
      assert.match(told, /prefixHitFraction +not known {2}needs growth between two scrapes/);
      assert.doesNotMatch(told, /not known$/m);
    });
  }
});
