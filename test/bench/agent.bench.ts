/** A page of eight engines read, against splitting it up and checking nothing; and what an agent costs that reads sixteen such pages each second. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { learn, newEndpoint } from "#edge-agent/endpoint.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import { EVERYTHING, parseExposition, parseOctets } from "#edge-agent/exposition.ts";
import { NO_PAGE_MEMORY, parseAlike } from "#edge-agent/exposition-layout.ts";
import { readEngine } from "#edge-agent/read-answers.ts";
import { answered, answers, reportOf } from "#test/support/edge-agent.ts";
import { startScriptedEngine, whole } from "#test/support/scripted-engine.ts";
import { until } from "#test/support/until.ts";
import { enginePayload } from "#test/support/vllm-page.ts";
import { alternate, type Bench, consume, median, nsPerIteration } from "./bench.ts";

const PAGE_BYTES = 150_000;
const ITERATIONS = 60;
const ENGINES = 16;
/** As deploy/systemd and deploy/kubernetes have them: what is kept is small, what comes and goes is large. */
const SMALL_HEAP = [
  "--single-threaded-gc",
  "--optimize-for-size",
  "--max-semi-space-size=2",
  "--heap-growing-percent=30",
] as const;
/** A busy engine's numbers grow from scrape to scrape. */
const PAGES = 90;
/** The compiler has settled by then. */
const WARM_ROUNDS = 15;
/** Rates look back a minute: from then on no more is kept. */
const WATCHED_SECONDS = 60;

/** Two captured engines made into eight, cut at the last whole line; a flat string, as a body is. */
const pageOfEight = (): string => {
  const two = enginePayload("vllm-v1-current.t1.prom");
  const eight = [0, 1, 2, 3].map((pair) =>
    two.replaceAll(/engine="([01])"/g, (_, engine: string) => `engine="${2 * pair + Number(engine)}"`),
  );
  const text = Buffer.from(eight.join("")).toString();
  return text.slice(0, text.lastIndexOf("\n", PAGE_BYTES) + 1);
};

/** Counters and buckets have grown n times; gauges, labels and starts are as they were. */
const grown = (page: string, n: number): string =>
  page.replaceAll(/^([a-z:_]+(?:_total|_sum|_count|_bucket)(?:\{[^\n]*\})?) ([0-9.]+)$/gm, (_, series, value) =>
    Number(value) === 0 ? `${series} ${value}` : `${series} ${Number(value) + n * (value.includes(".") ? 7.25 : 7)}`,
  );

/** What a reader without doubts does: no escapes, no duplicates, no half pages. */
const plainSplit = (text: string): ReadonlyMap<string, unknown[]> => {
  const samples = new Map<string, unknown[]>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const open = line.indexOf("{");
    const labels: Record<string, string> = {};
    if (open !== -1) {
      for (const label of line.slice(open + 1, line.lastIndexOf("}")).split(",")) {
        const equals = label.indexOf("=");
        labels[label.slice(0, equals)] = label.slice(equals + 2, -1);
      }
    }
    const space = line.lastIndexOf(" ");
    const name = line.slice(0, open === -1 ? space : open);
    const list = samples.get(name) ?? [];
    samples.set(name, list);
    list.push({ labels, value: Number(line.slice(space + 1)) });
  }
  return samples;
};

const repeated =
  (act: () => { readonly size: number }) =>
  (iterations: number): number => {
    let sum = 0;
    for (let i = 0; i < iterations; i++) sum += act().size;
    return sum;
  };

/** Median CPU time of a page: other programs on the machine make a page wait, and that is not the parser's. */
const cpuMsPerPage = (page: string): number => {
  const runs = Array.from({ length: 11 }, () => {
    const before = process.threadCpuUsage();
    consume(repeated(() => parseExposition(page).samples)(ITERATIONS));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000 / ITERATIONS;
  });
  return median(runs);
};

/** As until, for what takes its time. */
const untilSeconds = async (seconds: number, isTrue: () => Promise<boolean>): Promise<void> => {
  const givenUpAtMs = performance.now() + seconds * 1_000;
  while (!(await isTrue())) {
    if (performance.now() > givenUpAtMs) throw new Error(`no so many rounds within ${seconds} s`);
    await pause(500);
  }
};

type Cost = { readonly residentBytes: number; readonly coreFraction: number; readonly skippedRounds: number };

/** Of a process that runs nothing but the agent, by its own metrics. */
const costOfAgent = async (page: string): Promise<Cost> => {
  const engines = await Promise.all(Array.from({ length: ENGINES }, startScriptedEngine));
  const pages = Array.from({ length: PAGES }, (_, n) => whole(grown(page, n)));
  for (const engine of engines) {
    let asked = 0;
    engine.answers.set("/metrics", (request, response) => {
      pages[asked % PAGES]?.(request, response);
      asked += 1;
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const config = join(folder, "agent.yaml");
  writeFileSync(
    config,
    JSON.stringify({
      version: 1,
      region: "eu-central",
      agent: "a1",
      store: { url: "memory:" },
      report: { interval: "1s" },
      engines: engines.map(({ origin }) => ({ url: origin })),
      metrics: { listen: "127.0.0.1:0" },
    }),
  );
  const main = join(import.meta.dirname, "../../edge-agent/main.ts");
  const env = { ...process.env, MALLOC_ARENA_MAX: "2", NODE_COMPILE_CACHE: join(folder, "cache") };
  const start = () =>
    spawn(process.execPath, [...SMALL_HEAP, main, "run", "--config", config], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
  // The first start fills the cache that the next ones have.
  const first = start();
  // Before it reports it has not loaded all, nor would the signal be heard: what is loaded then is kept when it ends.
  for await (const line of createInterface({ input: first.stdout })) if (line.includes('"agent.started"')) break;
  first.kill("SIGTERM");
  await once(first, "close");
  const child = start();
  let port: number | null = null;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event: { event?: string; port?: number } = JSON.parse(line);
    if (event.event === "metrics.listening") port = event.port ?? null;
  });
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, "m").exec(text)?.[1] ?? 0);
  };
  try {
    await until(() => port !== null, "the agent's listener");
    const seen = () => metric("edge_agent_rounds_total");
    await untilSeconds(120, async () => (await seen()) >= WARM_ROUNDS);
    const [cpuBefore, roundsBefore] = [await metric("process_cpu_seconds_total"), await seen()];
    await pause(WATCHED_SECONDS * 1_000);
    const cpuSeconds = (await metric("process_cpu_seconds_total")) - cpuBefore;
    return {
      residentBytes: await metric("process_resident_memory_bytes"),
      // Of the second that a round has: where the machine is busy, rounds are left out, and take no less.
      coreFraction: cpuSeconds / ((await seen()) - roundsBefore),
      skippedRounds: await metric("edge_agent_rounds_skipped_total"),
    };
  } finally {
    child.kill("SIGTERM");
    await once(child, "close");
    await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
    rmSync(folder, { recursive: true });
  }
};

export const bench: Bench = {
  name: "agent",
  run: async () => {
    const page = pageOfEight();
    const parsed = await alternate(
      10,
      () =>
        nsPerIteration(
          ITERATIONS,
          repeated(() => parseExposition(page).samples),
        ),
      () =>
        nsPerIteration(
          ITERATIONS,
          repeated(() => plainSplit(page)),
        ),
    );
    const [before, after] = [Buffer.from(page), Buffer.from(grown(page, 1))];
    const { memory } = parseAlike(before, EVERYTHING, NO_PAGE_MEMORY);
    const alike = await alternate(
      10,
      () =>
        nsPerIteration(
          ITERATIONS,
          repeated(() => parseAlike(after, EVERYTHING, memory).page.samples),
        ),
      () =>
        nsPerIteration(
          ITERATIONS,
          repeated(() => parseOctets(after, EVERYTHING, null).samples),
        ),
    );
    let endpoint = newEndpoint("h:1");
    let atMs = 0;
    const roundNs = await nsPerIteration(
      ITERATIONS,
      repeated(() => {
        atMs += 1_000;
        endpoint = learn(
          endpoint,
          readEngine(answers(atMs, { metrics: answered(page) }), endpoint, { ...PLAIN, wish: "auto" }),
        );
        return { size: reportOf([endpoint]).models.length };
      }),
    );
    const cost = await costOfAgent(page);
    const what = `a page of ${Math.round(page.length / 1_000)} KB parsed`;
    const plain = "a plain split";
    return [
      { what: `${what}, CPU time`, value: cpuMsPerPage(page), unit: "ms", against: null, ratio: null, bound: "≤ 3" },
      { what, value: parsed.a / 1e6, unit: "ms", against: plain, ratio: parsed.ratio, bound: null },
      {
        what: "the same, of which every series is read, by the layout of the one before",
        value: alike.a / 1e6,
        unit: "ms",
        against: "from its beginning",
        ratio: alike.ratio,
        bound: "≤ 0.6",
      },
      {
        what: "the same made into a report",
        value: roundNs / 1e6,
        unit: "ms",
        against: null,
        ratio: null,
        bound: null,
      },
      {
        what: `an agent beside ${ENGINES} such pages, every second: RSS after a minute`,
        value: cost.residentBytes / 1_048_576,
        unit: "MiB",
        against: null,
        ratio: null,
        bound: "≤ 143",
      },
      {
        what: "the same: share of a core",
        value: 100 * cost.coreFraction,
        unit: "%",
        against: null,
        ratio: null,
        bound: "≤ 15",
      },
      {
        what: "the same: rounds left out",
        value: cost.skippedRounds,
        unit: "rounds",
        against: null,
        ratio: null,
        bound: null,
      },
    ];
  },
};
