import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { runCommandLine } from "#edge-agent/main.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const FIXTURES = join(import.meta.dirname, "../../../fixtures/engines");
const folder = mkdtempSync(join(tmpdir(), "edge-agent-read-"));
after(() => rmSync(folder, { recursive: true }));

const fixture = (file: string): string => join(FIXTURES, file);
const written = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

const edgeAgent = async (...words: readonly string[]) => {
  let data = "";
  let messages = "";
  const exitCode = await runCommandLine(words, {
    print: (text) => {
      data += text;
    },
    tell: (text) => {
      messages += text;
    },
    env: {},
  });
  return { exitCode, data, messages };
};

type Json = Readonly<Record<string, unknown>>;
/** What `read --json` says of the only model, and the faults. */
const readJson = async (...words: readonly string[]): Promise<Json & { readonly models: readonly Json[] }> => {
  const { exitCode, data, messages } = await edgeAgent("read", ...words, "--json");
  assert.deepEqual([exitCode, messages], [0, ""]);
  return JSON.parse(data);
};

/** The cases of test/fixtures/engines/expected.json that this version reads, as it words them. */
type Expected = Readonly<Record<string, Json & { readonly files?: readonly string[] }>>;
const EXPECTED: Expected = JSON.parse(enginePayload("expected.json"));
const expected = (name: string): Json => EXPECTED[name] ?? assert.fail(`no case ${name}`);

const close = (actual: unknown, wanted: unknown, what: string): void => {
  assert.ok(
    typeof actual === "number" && typeof wanted === "number" && Math.abs(actual - wanted) <= 5e-7 * Math.max(1, wanted),
    `${what}: ${actual} is not ${wanted}`,
  );
};

describe("read: the captured payloads yield what expected.json says", () => {
  it("vLLM's current version, two pages ten seconds apart", async () => {
    const wanted = expected("vllm-v1-current (t0->t1, 10 s)");
    const files = (wanted["files"] as readonly string[]).map(fixture);
    const [model = {}] = (await readJson(...files, "--after", "10")).models;
    const pairs: readonly (readonly [ours: string, theirs: string, factor?: number])[] = [
      ["requestsRunning", "running"],
      ["requestsWaiting", "waiting"],
      ["kvCacheUsedFraction", "kvUsedFractionMean"],
      ["kvCacheUsedFractionMost", "kvUsedFractionMax"],
      ["kvCapacityTokens", "kvCapacityTokens"],
      ["prefixHitFraction", "prefixHitRateWindow"],
      ["prefillComputedTokensPerSecond", "prefillComputedTokensPerSecond"],
      ["promptTokensPerSecond", "promptTokensPerSecondInclCached"],
      ["decodeTokensPerSecond", "decodeTokensPerSecond"],
      ["ttftP50Ms", "ttftP50Window", 1_000],
      ["ttftP95Ms", "ttftP95Window", 1_000],
      ["ttftCount", "ttftCountWindow"],
    ];
    for (const [ours, theirs, factor = 1] of pairs) close(model[ours], Number(wanted[theirs]) * factor, ours);
    const [listed] = wanted["models"] as readonly Json[];
    assert.deepEqual(
      [model["model"], model["aliases"], model["adapters"], model["state"], model["contextLimitTokens"]],
      [listed?.["id"], listed?.["aliases"], listed?.["adapters"], "loaded", listed?.["maxModelLen"]],
    );
  });
  it("vLLM after a restart: no rate is negative, and the start moved", async () => {
    const files = (expected("vllm-v1-after-restart")["files"] as readonly string[]).map(fixture);
    const [model = {}] = (await readJson(...files, "--after", "30")).models;
    assert.equal(model["prefillComputedTokensPerSecond"], 900 / 30);
    assert.equal(model["prefixHitFraction"], 0);
    const replicas = model["replicas"] as readonly Json[];
    assert.deepEqual(
      replicas.map((replica) => [replica["isRestarted"], replica["startedAtMs"]]),
      [
        [true, 1_796_000_490_000],
        [true, 1_796_000_490_000],
      ],
    );
  });
  it("vLLM before its first request: 0 ÷ 0 is null", async () => {
    const [model = {}] = (await readJson(fixture("vllm-v1-cold.prom"))).models;
    const wanted = expected("vllm-v1-cold");
    close(model["kvCapacityTokens"], wanted["kvCapacityTokens"], "capacity");
    assert.deepEqual(
      [model["prefixHitFraction"], model["prefixHitFractionSinceStart"], model["ttftP50Ms"]],
      [wanted["prefixHitRate"], null, wanted["ttftP50"]],
    );
  });
  it("the cold page twice: zero deltas are null, not NaN and not 0", async () => {
    const cold = fixture("vllm-v1-cold.prom");
    const [model = {}] = (await readJson(cold, cold, "--after", "10")).models;
    assert.deepEqual([model["prefixHitFraction"], model["ttftP50Ms"], model["ttftP95Ms"]], [null, null, null]);
  });
  it("vLLM 0.6 (V0)", async () => {
    const [model = {}] = (await readJson(fixture("vllm-v0-0.6.prom"))).models;
    const wanted = expected("vllm-v0-0.6");
    close(model["requestsRunning"], wanted["running"], "running");
    close(model["requestsWaiting"], wanted["waiting"], "waiting");
    close(model["kvCacheUsedFraction"], wanted["kvUsedFraction"], "used");
    close(model["kvCapacityTokens"], wanted["kvCapacityTokens"], "capacity");
    close(model["prefixHitFraction"], wanted["prefixHitRateGauge"], "hits");
  });
  it("vLLM 0.8", async () => {
    const [model = {}] = (await readJson(fixture("vllm-v1-0.8.prom"))).models;
    const wanted = expected("vllm-v1-0.8");
    close(model["prefixHitFractionSinceStart"], wanted["prefixHitRateLifetime"], "hits");
    close(model["kvCacheUsedFraction"], wanted["kvUsedFraction"], "used");
    close(model["kvCapacityTokens"], wanted["kvCapacityTokens"], "capacity");
  });
  it("llm-d-inference-sim", async () => {
    const [model = {}] = (await readJson(fixture("llm-d-inference-sim.prom"))).models;
    const wanted = expected("llm-d-inference-sim");
    close(model["requestsRunning"], wanted["running"], "running");
    close(model["kvCapacityTokens"], wanted["kvCapacityTokens"], "capacity");
  });
  /** One case after another: which files, how far apart, and which of our fields has which of the expected values. */
  const families: readonly {
    readonly name: string;
    readonly after?: string;
    readonly more?: readonly string[];
    readonly pairs: readonly (readonly [ours: string, theirs: string, factor?: number])[];
  }[] = [
    {
      name: "sglang-0.5.18 (t0->t1, 10 s)",
      after: "10",
      more: ["sglang-models.json"],
      pairs: [
        ["requestsRunning", "running"],
        ["requestsWaiting", "waiting"],
        ["kvCapacityTokens", "kvCapacityTokens"],
        ["kvCacheUsedFraction", "kvUsedFraction"],
        ["kvResidentFraction", "kvResidentFractionInclEvictable"],
        ["prefixHitFraction", "prefixHitRateWindow"],
        ["prefillComputedTokensPerSecond", "prefillComputedTokensPerSecond"],
        ["decodeTokensPerSecond", "decodeTokensPerSecond"],
        ["ttftP50Ms", "ttftP50Window", 1_000],
        ["ttftP95Ms", "ttftP95Window", 1_000],
      ],
    },
    {
      name: "tgi-3.3",
      pairs: [
        ["requestsRunning", "running"],
        ["requestsWaiting", "waiting"],
        ["kvCapacityTokens", "kvCapacityTokens"],
        ["kvCacheUsedFraction", "kvUsedFractionUpperBound"],
      ],
    },
    {
      name: "trtllm-serve-1.3",
      pairs: [
        ["requestsRunning", "running"],
        ["requestsWaiting", "waiting"],
        ["kvCapacityTokens", "kvCapacityTokens"],
        ["kvCacheUsedFraction", "kvUsedFraction"],
        ["prefixHitFractionSinceStart", "prefixHitRateLifetime"],
      ],
    },
    {
      name: "trtllm-serve-metrics.json",
      pairs: [
        ["kvCapacityTokens", "kvCapacityTokens"],
        ["kvCacheUsedFraction", "kvUsedFraction"],
      ],
    },
  ];
  for (const { name, after, more = [], pairs } of families) {
    it(name, async () => {
      const wanted = expected(name);
      const files = [...(wanted["files"] as readonly string[]), ...more].map(fixture);
      const [model = {}] = (await readJson(...files, ...(after === undefined ? [] : ["--after", after]))).models;
      for (const [ours, theirs, factor = 1] of pairs) close(model[ours], Number(wanted[theirs]) * factor, ours);
    });
  }
  it("llama.cpp, with its slots and properties", async () => {
    const wanted = expected("llamacpp-b10519");
    const [model = {}] = (await readJson(...(wanted["files"] as readonly string[]).map(fixture))).models;
    close(model["requestsRunning"], wanted["running"], "running");
    close(model["requestsWaiting"], wanted["waiting"], "waiting");
    close(model["kvCapacityTokens"], wanted["kvCapacityTokens"], "capacity");
    close(model["kvCacheUsedFraction"], wanted["kvUsedFractionFromSlots"], "used");
    close(model["prefixHitFractionSinceStart"], wanted["prefixHitRateLifetime"], "hits");
    const rounded = (value: unknown): number => Number(Number(value).toFixed(3));
    close(rounded(model["prefillTokensPerSecondSinceStart"]), wanted["prefillTokensPerSecondLifetime"], "prefill");
    close(rounded(model["decodeTokensPerSecondSinceStart"]), wanted["decodeTokensPerSecondLifetime"], "decode");
  });
  it("Ollama's models in memory, and no one else's", async () => {
    const wanted = expected("ollama");
    const { models } = await readJson(...(wanted["files"] as readonly string[]).map(fixture));
    const loaded = models.filter(({ state }) => state === "loaded").map(({ model }) => model);
    assert.deepEqual(loaded, wanted["loaded"]);
    assert.ok(!models.some(({ model }) => String(model).includes("cloud")));
    const bytes = models.reduce((sum, model) => sum + Number(model["gpuMemoryBytes"] ?? 0), 0);
    assert.equal(bytes, wanted["gpuMemUsedBytesByModels"]);
  });
  for (const file of expected("lmcache")["files"] as readonly string[]) {
    it(`LMCache's tier in ${file}`, async () => {
      const [tier] = (await readJson(fixture(file)))["cacheTiers"] as readonly Json[];
      close(tier?.["hitFractionSinceStart"], expected("lmcache")["externalHitRateLifetime"], "hits");
    });
  }
  it("SGLang's model with its adapter", async () => {
    const [model = {}] = (await readJson(fixture("sglang-0.5.18.t0.prom"), fixture("sglang-models.json"))).models;
    assert.deepEqual([model["model"], model["adapters"]], ["Qwen/Qwen3-32B", ["sql-lora"]]);
    assert.deepEqual([model["contextLimitTokens"], model["state"]], [131_072, "loaded"]);
  });
  it("SGLang without metrics, by its loads alone", async () => {
    const reading = await readJson(fixture("sglang-v1-loads.json"), fixture("sglang-models.json"));
    const [model = {}] = reading.models;
    assert.deepEqual([model["requestsRunning"], model["kvCapacityTokens"]], [9, 450_000]);
    close(model["kvCacheUsedFraction"], 0.218222, "used");
    assert.equal(model["ttftP50Ms"], null);
  });
  it("TGI's model by /info, and what is only an upper bound is said to be one", async () => {
    const reading = await readJson(...["tgi-3.3.prom", "tgi-info.json", "tgi-models.json"].map(fixture));
    const [model = {}] = reading.models;
    assert.deepEqual(
      [model["model"], model["contextLimitTokens"], model["ttftP50Ms"], model["prefixHitFractionSinceStart"]],
      ["mistralai/Mistral-7B-Instruct-v0.3", 4_096, null, null],
    );
    const faults = (reading["faults"] as readonly Json[]).map(({ field, code }) => `${field} ${code}`);
    assert.ok(faults.includes("kvCacheUsedFraction upper-bound") && faults.includes("ttftP50Ms not-exported"));
  });
  it("Dynamo's front end", async () => {
    const [model = {}] = (await readJson(fixture("dynamo-frontend.prom"))).models;
    assert.deepEqual(
      [model["requestsRunning"], model["requestsWaiting"], model["contextLimitTokens"], model["kvCapacityTokens"]],
      [10, 2, 131_072, 7_031 * 64],
    );
    close(model["prefixHitFractionSinceStart"], 340_000 / 760_000, "hits");
  });
  it("OpenMetrics", async () => {
    const reading = await readJson(fixture("openmetrics-flavour.prom"));
    assert.equal(reading.models[0]?.["requestsRunning"], 1);
    const codes = (reading["faults"] as readonly Json[]).map(({ code }) => code);
    assert.ok(codes.includes("metrics-contract-broken") && !codes.includes("half-sent"));
  });
  it("dcgm-exporter", async () => {
    const reading = await readJson(fixture("dcgm-exporter.prom"));
    const wanted = expected("dcgm-exporter");
    assert.equal(reading["gpuMemoryUsedBytes"], wanted["gpuMemUsedBytes"]);
    assert.equal(reading["gpuMemoryTotalBytes"], wanted["gpuMemTotalBytes"]);
  });
  it("nvidia-smi, of which one GPU does not say", async () => {
    const whole = await readJson(fixture("nvidia-smi-query.csv"));
    assert.equal(whole["gpuMemoryUsedBytes"], 2 * 75_067 * 1_048_576);
    const partly = await readJson(fixture("nvidia-smi-query-nounits.csv"));
    assert.deepEqual([partly["gpuMemoryUsedBytes"], partly["gpuMemoryTotalBytes"]], [null, null]);
  });
});

describe("read: as text", () => {
  it("says what is known with its unit, and what is not", async () => {
    const files = ["vllm-v1-current.t0.prom", "vllm-v1-current.t1.prom", "vllm-v1-models.json"].map(fixture);
    const { exitCode, data, messages } = await edgeAgent("read", ...files, "--after", "10");
    assert.deepEqual([exitCode, messages], [0, ""]);
    assert.match(data, /^vllm, two payloads, 10 s apart\n/);
    assert.match(data, /^ {2}KV cache capacity +864 000 tokens$/m);
    assert.match(data, /^ {2}prompt tokens computed +2 080 tokens\/s$/m);
    assert.match(data, /^ {2}gap between tokens +not known$/m);
    assert.match(data, /^ {2}replica 1 +running 10 · waiting 3 · KV used 0\.539 of 432 000 tokens/m);
    assert.match(data, /^no faults$/m);
  });
  it("says why a field is not known", async () => {
    const { data } = await edgeAgent("read", written("nan.prom", vllmPage([{ waiting: "NaN" }])));
    assert.match(data, /^ {2}requests waiting +not known$/m);
    assert.match(data, /^ {2}requestsWaiting +not-finite$/m);
  });
  it("says the memory of GPUs", async () => {
    const { data } = await edgeAgent("read", fixture("dcgm-exporter.prom"));
    assert.match(data, /^ {2}all GPUs, total +342 083 239 936 bytes$/m);
  });
});

describe("read: refusals", () => {
  const page = fixture("vllm-v1-current.t0.prom");
  const models = fixture("vllm-v1-models.json");
  const cases: readonly {
    readonly when: string;
    readonly words: readonly string[];
    readonly exitCode: number;
    readonly says: RegExp;
  }[] = [
    {
      when: "an engine that nobody knows",
      words: [page, "--engine", "x"],
      exitCode: 2,
      says: /--engine x: must be one of auto, vllm/,
    },
    { when: "a file that is not there", words: [fixture("nothing")], exitCode: 1, says: /cannot be read: ENOENT/ },
    {
      when: "half a page",
      words: [written("half.prom", vllmPage().slice(0, 400))],
      exitCode: 1,
      says: /half of a page/,
    },
    { when: "an empty file", words: [written("empty.prom", "")], exitCode: 1, says: /holds no samples/ },
    {
      when: "a page of nobody known",
      words: [written("other.prom", "a 1\n")],
      exitCode: 1,
      says: /no engine's page that is known/,
    },
    { when: "other JSON", words: [page, fixture("openai-chat-usage.json")], exitCode: 1, says: /found other JSON/ },
    { when: "broken JSON", words: [page, written("broken.json", "{")], exitCode: 1, says: /found broken JSON/ },
    { when: "a model list alone", words: [models], exitCode: 2, says: /found only model lists/ },
    { when: "two model lists", words: [page, models, models], exitCode: 2, says: /one model list at most/ },
    { when: "three pages", words: [page, page, page, "--after", "1"], exitCode: 2, says: /one page or two/ },
    { when: "two pages without --after", words: [page, page], exitCode: 2, says: /need --after/ },
    { when: "one page with --after", words: [page, "--after", "1"], exitCode: 2, says: /needs a second page/ },
    { when: "--after 0", words: [page, page, "--after", "0"], exitCode: 2, says: /above 0/ },
    { when: "a GPU page among others", words: [page, fixture("dcgm-exporter.prom")], exitCode: 2, says: /read alone/ },
    { when: "no file", words: [], exitCode: 2, says: /missing required argument/ },
  ];
  for (const { when, words, exitCode, says } of cases) {
    it(`exits ${exitCode} for ${when}, and says so on standard error only`, async () => {
      const ended = await edgeAgent("read", ...words);
      assert.deepEqual([ended.exitCode, ended.data], [exitCode, ""]);
      assert.match(ended.messages, says);
    });
  }
});

describe("the command line", () => {
  it("prints its version", async () => {
    assert.match((await edgeAgent("version")).data, /^\d+\.\d+\.\d+\n$/);
  });
  it("prints its help on standard output when asked, and on standard error when used wrongly", async () => {
    const asked = await edgeAgent("--help");
    assert.deepEqual([asked.exitCode, asked.messages], [0, ""]);
    assert.match(asked.data, /run.*check.*scrape.*read.*version/s);
    for (const words of [
      ["fly"],
      [],
      ["run"],
      ["scrape", "--config", "x"],
      ["run", "--config", "x", "--log-level", "loud"],
    ]) {
      const wrong = await edgeAgent(...words);
      assert.deepEqual([wrong.exitCode, wrong.data], [2, ""], words.join(" "));
      assert.notEqual(wrong.messages, "");
    }
  });
});
