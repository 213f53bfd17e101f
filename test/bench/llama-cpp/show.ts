/**
 * A real llama.cpp beside an agent: first tokens against what had to be computed, a second turn with a kept prefix, and how
 * well the GTM's formula of prefill time predicts them.
 *
 * node-llama-cpp is no dependency: its install script would build or fetch. Install it elsewhere, and say where:
 *
 *   mkdir /tmp/llama && cd /tmp/llama && npm init -y && npm install --ignore-scripts --omit=optional \
 *     node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1
 *   node test/bench/llama-cpp/show.ts /tmp/llama/node_modules
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { AgentConfig, startAgent } from "#edge-agent/main.ts";
import { systemClock } from "#shared/clock.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { until } from "#test/support/until.ts";
import { type BoundEngine, bindEngine } from "./bound-engine.ts";
import { errorsOf, fitted, type Measured } from "./fit.ts";
import { MODEL, startObservedServer } from "./observed-server.ts";
import { seededNumbers } from "./seeded-numbers.ts";
import { tinyGguf } from "./tiny-gguf.ts";

const CONTEXT_TOKENS = 8_192;
const SEED = 7;
const BYTE_ZERO = 3;
const REPEATS = 3;
/** Tokens kept, and tokens on top of them. */
const KEPT = [0, 512, 1_024, 2_048] as const;
const NEW = [64, 128, 256, 512, 1_024] as const;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const textOf = (random: () => number, tokens: number): number[] =>
  Array.from({ length: tokens }, () => BYTE_ZERO + Math.floor(random() * 256));

/** Each pair of kept and new tokens, in an order that the seed shuffles, so that nothing else of the machine sides with one of them. */
const measure = async (engine: BoundEngine): Promise<readonly Measured[]> => {
  const random = seededNumbers(SEED);
  const pairs = KEPT.flatMap((kept) => NEW.map((fresh) => ({ kept, fresh, order: random() }))).toSorted(
    (a, b) => a.order - b.order,
  );
  const measured: Measured[] = [];
  for (const { kept, fresh } of pairs) {
    const times: number[] = [];
    let uncachedTokens = 0;
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      await engine.forget();
      const prefix = textOf(random, kept);
      if (kept > 0) await engine.firstToken(prefix);
      const turn = await engine.firstToken([...prefix, ...textOf(random, fresh)]);
      // Other programs share the machine: what they take is not the engine's.
      times.push(turn.cpuMs);
      uncachedTokens = turn.uncachedTokens;
    }
    const ttftMs = times.toSorted((a, b) => a - b)[Math.floor(REPEATS / 2)] ?? 0;
    measured.push({ uncachedTokens, promptTokens: kept + fresh, ttftMs });
  }
  return measured;
};

const told = (value: number, digits = 0): string => value.toFixed(digits);

const showTurns = async (engine: BoundEngine): Promise<void> => {
  await using server = await startObservedServer(engine.counted, CONTEXT_TOKENS);
  const store = createMemoryStore(systemClock);
  const config = AgentConfig.parse({
    ...{ version: 1, region: "here", agent: "a1", store: { url: "memory:" }, report: { interval: "200ms" } },
    engines: [{ url: server.origin }],
  });
  const agent = await startAgent(config, store, { clock: systemClock, log: silentLogger, metrics: createMetrics() });
  const report = async () => {
    const stored = await store.get(reportKey(RegionId.parse("here"), AgentId.parse("a1")));
    const [model] = RegionReport.parse(JSON.parse(stored?.value ?? "null")).models;
    if (model === undefined) throw new Error("the report has no model");
    return model;
  };
  const reported = async (hitsAbove: number) => {
    let model = await report();
    await until(async () => {
      model = await report();
      return (model.prefixHitFraction ?? -1) >= hitsAbove;
    }, "a report of that turn");
    say(
      `  the report: prefix hits ${model.prefixHitFraction?.toFixed(3)}, prefill ${told(model.prefillTokensPerSecond ?? 0)} tokens/s, ` +
        `cache used ${told((model.kvCacheUsedFraction ?? 0) * 100, 1)} % of ${model.kvCapacityTokens} tokens`,
    );
  };
  const random = seededNumbers(SEED + 1);
  const opening = textOf(random, 3_000);
  await engine.forget();
  say(`\nA conversation of two turns with ${MODEL}`);
  const first = await engine.firstToken(opening);
  say(`  turn 1: 3000 tokens, ${first.uncachedTokens} computed, first token after ${told(first.ttftMs)} ms`);
  await reported(0);
  const second = await engine.firstToken([...opening, ...textOf(random, 100)]);
  say(`  turn 2: 3100 tokens, ${second.uncachedTokens} computed, first token after ${told(second.ttftMs)} ms`);
  await reported(0.4);
  say(`  turn 2 was ${told(first.ttftMs / second.ttftMs, 1)} times as quick`);
  await agent.stop();
};

const showPrediction = (measured: readonly Measured[]): void => {
  say(
    "\nProcessor time to the first token in ms, by tokens kept (down) and tokens to compute (across); the median of three",
  );
  say(`${"".padStart(8)}${NEW.map((fresh) => String(fresh).padStart(8)).join("")}`);
  for (const kept of KEPT) {
    const row = NEW.map((fresh) =>
      measured.find((one) => one.promptTokens === kept + fresh && one.uncachedTokens === fresh),
    );
    say(`${String(kept).padStart(8)}${row.map((one) => told(one?.ttftMs ?? 0).padStart(8)).join("")}`);
  }
  const [known, unseen] = [measured.filter((_, at) => at % 2 === 0), measured.filter((_, at) => at % 2 === 1)];
  const speed = fitted(known);
  const errors = errorsOf(speed, unseen);
  const at = (fraction: number): number =>
    100 * (errors[Math.min(errors.length - 1, Math.floor(errors.length * fraction))] ?? 0);
  say(
    `\nprefillMs fitted to ${known.length} of them: ${speed.linMs.toFixed(4)} ms a token, ${speed.attnMs.toExponential(2)} ms a token²`,
  );
  say(
    `of the ${unseen.length} others it is off by ${told(at(0.5), 1)} % at the median, ${told(at(0.95), 1)} % at the 95th percentile`,
  );
};

const [modules] = process.argv.slice(2);
if (modules === undefined) {
  process.stderr.write(
    "say where node-llama-cpp is installed: node test/bench/llama-cpp/show.ts /tmp/llama/node_modules\n",
  );
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "llama-cpp-show-"));
try {
  const modelPath = join(folder, "random.gguf");
  writeFileSync(modelPath, tinyGguf(SEED));
  say(
    `load average ${loadavg()
      .map((load) => load.toFixed(2))
      .join(" ")} · one thread`,
  );
  await using engine = await bindEngine(modules, modelPath, CONTEXT_TOKENS);
  // The first tokens of a process pay for pages and caches.
  await engine.firstToken(textOf(seededNumbers(1), 512));
  await showTurns(engine);
  showPrediction(await measure(engine));
} finally {
  rmSync(folder, { recursive: true });
}
