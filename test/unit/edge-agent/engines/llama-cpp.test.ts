import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EnginePayloads, Further } from "#edge-agent/engines/engine.ts";
import { llamaCpp } from "#edge-agent/engines/llama-cpp.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { observe } from "#edge-agent/history.ts";
import { ratesOf } from "#edge-agent/rates.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

const parsed = (file: string): unknown => JSON.parse(enginePayload(file));
const json = (value: unknown): Further => ({ kind: "json", json: value });
const code = (text: string): Further => ({ kind: "unknown", code: text });

const PROPS = parsed("llamacpp-props.json") as Record<string, unknown>;
const SLOTS = parsed("llamacpp-slots.json");
const MODELS = parsed("llamacpp-models.json");
const ROUTER = parsed("llamacpp-router-models.json");
const PAGE = enginePayload("llamacpp-b10519.prom");

const payloads = (wish: {
  page?: string | null;
  models?: unknown;
  further?: Readonly<Record<string, Further>>;
}): EnginePayloads => ({
  page: wish.page === undefined ? parseExposition(PAGE) : wish.page === null ? null : parseExposition(wish.page),
  models: wish.models === undefined ? MODELS : wish.models,
  further: new Map(Object.entries(wish.further ?? { "/props": json(PROPS), "/slots": json(SLOTS) })),
});
const read = (wish: Parameters<typeof payloads>[0]) => {
  const reading = llamaCpp.read(payloads(wish));
  const [model] = reading.models;
  return {
    ...reading,
    model,
    replica: model?.replicas[0],
    codes: new Map(reading.faults.map((one) => [one.field, one.code])),
  };
};

describe("a llama.cpp server", () => {
  const { model, replica, isMeasured, sources } = read({});
  it("has 1 request running, none waiting, 32 768 tokens of cache of which 0.0946 are used", () => {
    assert.equal(isMeasured, true);
    assert.deepEqual(
      [model?.model, model?.kvCapacityTokens, model?.contextLimitTokens, model?.weightBytes],
      ["qwen3-8b", 32_768, 16_384, 5_027_783_680],
    );
    assert.deepEqual([replica?.requestsRunning, replica?.requestsWaiting], [1, 0]);
    assert.equal(replica?.kvCacheUsedFraction?.toFixed(6), "0.094604");
  });
  it("counts computed tokens without cached ones: hits of 0.662967, 1 364.98 tokens/s while prefilling", () => {
    const [queries = 0, hits = 0] = replica?.counters.prefixCache[0]?.values ?? [];
    assert.equal((hits / queries).toFixed(6), "0.662967");
    const [tokens = 0, seconds = 0] = replica?.counters.prefillBusy[0]?.values ?? [];
    assert.equal((tokens / seconds).toFixed(3), "1364.982");
    const [written = 0, writing = 0] = replica?.counters.interToken[0]?.values ?? [];
    assert.equal((written / writing).toFixed(2), "212.46");
  });
  it("says where its fields are from", () => {
    const from = new Map(sources.map(({ field, source }) => [field, source]));
    assert.equal(from.get("requestsWaiting"), "llamacpp:requests_deferred");
    assert.match(from.get("kvCacheUsedFraction") ?? "", /^\/slots/);
  });
  it("has no histogram and no start, which is said and is no zero", () => {
    const { codes } = read({});
    assert.deepEqual([codes.get("ttftP50Ms"), codes.get("startedAtMs")], ["not-exported", "not-exported"]);
    assert.equal(replica?.startedAt, null);
  });
  it("that runs with --kv-unified has its cache once", () => {
    const further = { "/props": json({ ...PROPS, kv_unified: true }), "/slots": json(SLOTS) };
    assert.equal(read({ further }).model?.kvCapacityTokens, 16_384);
  });
  it("is as fast as its prefills were, believed by the tokens they had", () => {
    const at = (atMs: number, page: string) => {
      const { replica: one } = read({ page });
      assert.ok(one);
      return { atMs, atEpochMs: atMs, startedAt: one.startedAt, counters: one.counters };
    };
    const later = PAGE.replace("168507", "178747").replace("123.45", "133.69");
    const history = observe(observe(null, at(0, PAGE)), at(10_000, later));
    const { prefill } = ratesOf(history);
    assert.equal(prefill?.tokensPerSecond.toFixed(1), "1000.0");
    assert.equal(prefill?.prefills, 20);
  });
  it("that restarts is seen by its counters", () => {
    const one = read({}).replica;
    const restarted = read({ page: PAGE.replace("168507", "10").replace("331465", "0").replace("18722", "1") }).replica;
    assert.ok(one && restarted);
    const step = (atMs: number, of: typeof one) => ({ atMs, atEpochMs: atMs, startedAt: null, counters: of.counters });
    assert.equal(observe(observe(null, step(0, one)), step(1_000, restarted)).restartSeenAtMs, 1_000);
  });
});

describe("names of older versions", () => {
  it("say the share of the cache, where there are no slots to look at", () => {
    const page = `${PAGE}llamacpp:kv_cache_usage_ratio 0.25\nllamacpp:kv_cache_tokens 100\n`;
    const { replica } = read({ page, further: { "/props": json(PROPS), "/slots": code("http-501") } });
    assert.equal(replica?.kvCacheUsedFraction, 0.25);
  });
  it("have the next token as an object, and a prompt without what was generated", () => {
    const slot = { id: 0, n_ctx: 16_384, is_processing: true, n_prompt_tokens: 3_100, next_token: { n_decoded: 140 } };
    const { replica } = read({ further: { "/props": json(PROPS), "/slots": json([slot]) } });
    assert.equal(replica?.kvCacheUsedFraction, 3_240 / 32_768);
  });
  it("without cached tokens have no hit fraction, and the prompt is not known", () => {
    const { replica, codes } = read({ page: PAGE.replace(/^.*prompt_tokens_cached.*\n/gm, "") });
    assert.deepEqual([replica?.counters.prefixCache, replica?.counters.promptTokens], [[], []]);
    assert.equal(codes.get("prefixHitFraction"), "missing");
  });
});

describe("a server without --metrics", () => {
  const further = { "/props": json(PROPS), "/slots": json(SLOTS), "/metrics": code("http-501") };
  it("says by its slots how many requests run, and not how many wait", () => {
    const { replica, codes, isMeasured } = read({ page: null, further });
    assert.deepEqual([isMeasured, replica?.requestsRunning, replica?.requestsWaiting], [true, 1, null]);
    assert.equal(codes.get("requestsWaiting"), "metrics-disabled");
  });
  it("and without slots says nothing", () => {
    const { isMeasured, model } = read({ page: null, further: { ...further, "/slots": code("http-501") } });
    assert.deepEqual([isMeasured, model?.replicas], [false, []]);
  });
});

describe("what is asked of a llama.cpp server", () => {
  const next = (models: unknown, props: Further): readonly string[] =>
    llamaCpp.nextPaths(payloads({ page: null, models, further: { "/props": props } }), () => false);
  it("is first who it is, then its page and slots", () => {
    assert.deepEqual(llamaCpp.firstPaths, ["/props"]);
    assert.deepEqual(next(MODELS, json(PROPS)), ["/metrics", "/slots"]);
  });
  it("is nothing more while it sleeps, since looking would wake it", () => {
    assert.deepEqual(next(MODELS, json({ ...PROPS, is_sleeping: true })), []);
    const asleep = read({ page: null, further: { "/props": json({ ...PROPS, is_sleeping: true }) } });
    assert.deepEqual([asleep.model?.state, asleep.isMeasured, asleep.faults], ["asleep", false, []]);
  });
  for (const found of ["loading", "timed-out", "refused"]) {
    it(`is nothing more where that is not known: ${found}`, () => assert.deepEqual(next(MODELS, code(found)), []));
  }
  it("of a router is only what is loaded, and never to load anything", () => {
    const role = json({ role: "router" });
    assert.deepEqual(next(ROUTER, role), [
      "/metrics?model=qwen3-8b&autoload=false",
      "/slots?model=qwen3-8b&autoload=false",
      "/props?model=qwen3-8b&autoload=false",
    ]);
    assert.deepEqual(next(null, role), []);
  });
  it("of a router is encoded, whatever a model is called", () => {
    const list = { data: [{ id: "org/m:Q4 &x", status: { value: "loaded" } }] };
    assert.equal(next(list, json({ role: "router" }))[0], "/metrics?model=org%2Fm%3AQ4%20%26x&autoload=false");
  });
});

describe("a router", () => {
  const paths = (model: string) =>
    ["/metrics", "/slots", "/props"].map((path) => `${path}?model=${model}&autoload=false`);
  const [page = "", slots = "", props = ""] = paths("qwen3-8b");
  const further = {
    "/props": json({ role: "router" }),
    [page]: { kind: "page", page: parseExposition(PAGE) } as const,
    [slots]: json(SLOTS),
    [props]: json(PROPS),
  };
  it("has models that are loaded, on disk and loading", () => {
    const { models, isMeasured } = read({ page: null, models: ROUTER, further });
    assert.equal(isMeasured, true);
    assert.deepEqual(
      models.map(({ model, state, replicas, kvCapacityTokens }) => [model, state, replicas.length, kvCapacityTokens]),
      [
        ["qwen3-8b", "loaded", 1, 32_768],
        ["gemma-3-4b", "on-disk", 0, null],
        ["phi-4", "loading", 0, null],
      ],
    );
    assert.equal(models[0]?.replicas[0]?.requestsRunning, 1);
  });
  it("of which nothing is loaded is read nevertheless", () => {
    const models = {
      data: [
        { id: "a", status: { value: "unloaded" } },
        { id: "b", status: { value: "sleeping" } },
      ],
    };
    const { isMeasured, models: states } = read({
      page: null,
      models,
      further: { "/props": json({ role: "router" }) },
    });
    assert.deepEqual([isMeasured, states.map(({ state }) => state)], [true, ["on-disk", "asleep"]]);
  });
  it("whose list could not be had this time is not measured", () => {
    assert.equal(
      read({ page: null, models: ROUTER, further: { "/props": json({ role: "router" }) } }).isMeasured,
      false,
    );
  });
});

describe("who is a llama.cpp server", () => {
  const tells = (props: Further): boolean => llamaCpp.tells(new Map([["/props", props]]));
  it("is told by its properties, also while it loads", () => {
    assert.deepEqual(
      [
        tells(json(PROPS)),
        tells(json({ role: "router" })),
        tells(code("loading")),
        tells(code("http-404")),
        tells(json({})),
      ],
      [true, true, true, false, false],
    );
  });
  it("is told by its page under both spellings", () => {
    assert.equal(llamaCpp.recognises(["llamacpp:requests_processing"]), true);
    assert.equal(llamaCpp.recognises(["llamacpp_requests_processing"]), true);
    assert.equal(llamaCpp.recognises(["vllm:num_requests_running"]), false);
  });
});

describe("answers that are nonsense", () => {
  const nonsense: readonly unknown[] = [
    null,
    [],
    {},
    "x",
    1,
    [null],
    { data: [{}] },
    { total_slots: "2" },
    [{ id: 0, n_prompt_tokens: -1 }],
  ];
  for (const value of nonsense) {
    it(`are read without a throw and without a number: ${JSON.stringify(value)}`, () => {
      const { replica } = read({ models: value, further: { "/props": json(value), "/slots": json(value) } });
      assert.ok(replica === undefined || replica.kvCacheUsedFraction === null);
    });
  }
});
