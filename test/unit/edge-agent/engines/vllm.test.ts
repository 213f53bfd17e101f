import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ModelReading, NOTHING_FURTHER, type ReplicaReading } from "#edge-agent/engines/engine.ts";
import { vllm } from "#edge-agent/engines/vllm.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { enginePayload, PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const MODELS: unknown = JSON.parse(enginePayload("vllm-v1-models.json"));

const readText = (text: string, models: unknown = null) =>
  vllm.read({ page: parseExposition(text), models, further: NOTHING_FURTHER });
const onlyModel = (text: string, models: unknown = null): ModelReading => {
  const reading = readText(text, models);
  assert.equal(reading.models.length, 1);
  const [model] = reading.models;
  assert.ok(model);
  return model;
};
const onlyReplica = (text: string): ReplicaReading => {
  const [replica] = onlyModel(text).replicas;
  assert.ok(replica);
  return replica;
};
const codesOf = (text: string, field: string): readonly string[] =>
  readText(text)
    .faults.filter((fault) => fault.field === field)
    .map(({ code }) => code);

describe("a page of vLLM's current version with two engines", () => {
  const model = onlyModel(enginePayload("vllm-v1-current.t1.prom"), MODELS);
  it("is one model with its alias and its adapters", () => {
    assert.equal(model.model, PAGE_MODEL);
    assert.deepEqual(model.aliases, ["llama-3.3-70b"]);
    assert.deepEqual(model.adapters, ["sql-lora", "support-lora"]);
    assert.equal(model.contextLimitTokens, 131_072);
  });
  it("is two replicas with their own queues and caches", () => {
    const seen = model.replicas.map(({ engine, requestsRunning, requestsWaiting, kvCacheUsedFraction }) => [
      engine,
      requestsRunning,
      requestsWaiting,
      kvCacheUsedFraction,
    ]);
    assert.deepEqual(seen, [
      ["0", 12, 1, 0.4511],
      ["1", 10, 3, 0.539],
    ]);
  });
  it("holds 864 000 tokens: the label is the sum over both already", () =>
    assert.equal(model.kvCapacityTokens, 864_000));
  it("started when the counters were created", () => {
    assert.deepEqual(model.replicas[0]?.startedAt, { source: "prompt_tokens_created", atMs: 1_795_996_800_000 });
  });
  it("is awake", () =>
    assert.deepEqual(
      model.replicas.map(({ isAsleep }) => isAsleep),
      [false, false],
    ));
  it("counts computed tokens by source, and knows the other ways too", () => {
    assert.deepEqual(
      model.replicas[0]?.counters.computedTokens.map(({ source, values }) => [source, ...values]),
      [
        ["prompt_tokens_by_source", 419_600],
        ["prompt_tokens - prompt_tokens_cached", 419_600],
        ["queries - hits of prefix_cache and external", 419_600],
        ["prompt_tokens, cached ones included", 836_000],
      ],
    );
  });
  it("has no faults", () => assert.deepEqual(readText(enginePayload("vllm-v1-current.t1.prom"), MODELS).faults, []));
});

describe("other versions and flavours", () => {
  it("0.6 (V0) has the old names, no engine label and an averaged hit rate", () => {
    const replica = onlyReplica(enginePayload("vllm-v0-0.6.prom"));
    assert.deepEqual([replica.engine, replica.requestsRunning, replica.requestsWaiting], ["0", 3, 1]);
    assert.equal(replica.kvCacheUsedFraction, 0.2175);
    assert.equal(replica.prefixHitFraction, 0.414);
    assert.equal(onlyModel(enginePayload("vllm-v0-0.6.prom")).kvCapacityTokens, 91_056);
  });
  it("0.6 without prefix caching says −1, which is no fraction", () => {
    const off = enginePayload("vllm-v0-0.6.prom").replace(/(gpu_prefix_cache_hit_rate\{.*\}) .*/, "$1 -1.0");
    assert.equal(onlyReplica(off).prefixHitFraction, null);
    assert.deepEqual(codesOf(off, "prefixHitFraction"), ["missing"]);
  });
  it("0.8 has queries and hits in blocks under gpu_ names", () => {
    const replica = onlyReplica(enginePayload("vllm-v1-0.8.prom"));
    assert.deepEqual(replica.counters.prefixCache, [{ source: "gpu_prefix_cache", values: [6_400, 2_560, 0] }]);
    assert.equal(replica.kvCacheUsedFraction, 0.31);
    assert.equal(onlyModel(enginePayload("vllm-v1-0.8.prom")).kvCapacityTokens, 192_000);
  });
  it("0.8's blocks are never taken for tokens: computed tokens are an upper bound, and said to be one", () => {
    const page = enginePayload("vllm-v1-0.8.prom");
    assert.deepEqual(
      onlyReplica(page).counters.computedTokens.map(({ values }) => values[0]),
      [102_400],
    );
    assert.deepEqual(codesOf(page, "newTokensPerSecond"), ["upper-bound"]);
  });
  it("with both names on one page the new one speaks, and nothing is added", () => {
    const page = `${vllmPage([{ kvUsed: 0.5 }])}vllm:gpu_cache_usage_perc{engine="0",model_name="${PAGE_MODEL}"} 0.9\n`;
    assert.equal(onlyReplica(page).kvCacheUsedFraction, 0.5);
  });
  it("a query counter of one name is never divided by a hit counter of another", () => {
    const page = vllmPage().replace("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total");
    assert.deepEqual(onlyReplica(page).counters.prefixCache, []);
  });
  for (const prefix of ["ray_vllm_", "vllm_", "ray_vllm:"]) {
    it(`Ray Serve's ${prefix} is read alike`, () => {
      const page = enginePayload("vllm-v1-current.t1.prom").replaceAll(/^vllm:/gm, prefix);
      const plain = readText(enginePayload("vllm-v1-current.t1.prom"), MODELS);
      const { models, faults, sources } = readText(page, MODELS);
      assert.deepEqual([models, faults], [plain.models, plain.faults]);
      assert.ok(sources.some(({ source }) => source === `${prefix}num_requests_running`));
    });
  }
  it("Ray's counters may come without _total", () => {
    const page = vllmPage().replaceAll("_tokens_total{", "_tokens{");
    assert.deepEqual(onlyReplica(page).counters.outputTokens, [{ source: "generation_tokens", values: [20_000] }]);
    assert.deepEqual(readText(page).faults, []);
  });
  it("llm-d-inference-sim has no engine label and no label finished_reason", () => {
    const page = enginePayload("llm-d-inference-sim.prom");
    assert.equal(onlyReplica(page).requestsRunning, 2);
    assert.equal(onlyReplica(page).engine, "0");
    assert.equal(onlyModel(page).kvCapacityTokens, 16_384);
    assert.equal(onlyReplica(page).counters.computedTokens[0]?.values[0], 236);
  });
  it("OpenMetrics has the counters under the same sample names", () => {
    const replica = onlyReplica(enginePayload("openmetrics-flavour.prom"));
    assert.equal(replica.requestsRunning, 1);
    assert.deepEqual(replica.counters.promptTokens, [{ source: "prompt_tokens", values: [10] }]);
    assert.equal(replica.startedAt?.atMs, 1_795_996_800_000);
  });
  it("a cold engine counts zeros, which are values", () => {
    const replica = onlyReplica(enginePayload("vllm-v1-cold.prom"));
    assert.deepEqual(replica.counters.prefixCache, [{ source: "prefix_cache", values: [0, 0, 0] }]);
    assert.equal(onlyModel(enginePayload("vllm-v1-cold.prom")).kvCapacityTokens, 432_000);
  });
});

describe("a page of 0.9.2 to 0.10, which has both names of everything", () => {
  const both = enginePayload("vllm-v1-current.t1.prom").replaceAll(
    /^vllm:(kv_cache_usage_perc|prefix_cache_queries_total|prefix_cache_hits_total)(\{.*\}) (.*)$/gm,
    "vllm:$1$2 $3\nvllm:gpu_$1$2 99",
  );
  const old = both.replaceAll("vllm:gpu_kv_cache_usage_perc", "vllm:gpu_cache_usage_perc");
  it("is read by the new ones", () => {
    assert.match(old, /^vllm:gpu_cache_usage_perc\{.*\} 99$/m);
    assert.match(old, /^vllm:gpu_prefix_cache_hits_total\{.*\} 99$/m);
    assert.deepEqual(readText(old, MODELS), readText(enginePayload("vllm-v1-current.t1.prom"), MODELS));
  });
});

describe("adapters", () => {
  const card = (running: string, waiting: string, at: string): string =>
    `vllm:lora_requests_info{max_lora="4",running_lora_adapters="${running}",waiting_lora_adapters="${waiting}"} ${at}\n`;
  it("at work are those of the newest series, whatever the order on the page", () => {
    const series = [card("old", "", "1796000000.0"), card("a,b", "c", "1796000900.0"), card("older", "", "1795000000")];
    for (const page of [series, series.toReversed()]) {
      assert.deepEqual(onlyModel(vllmPage() + page.join("")).adapters, ["a", "b", "c"]);
    }
  });
  it("of the model list are there too, each once", () => {
    const page = vllmPage() + card("sql-lora", "fresh", "1796000900.0");
    assert.deepEqual(onlyModel(page, MODELS).adapters, ["sql-lora", "support-lora", "fresh"]);
  });
  it("are none where the newest series says none", () => {
    const page = vllmPage() + card("a", "", "1796000000") + card("", "", "1796000001");
    assert.deepEqual(onlyModel(page).adapters, []);
  });
});

describe("where a field was read from", () => {
  const sourceOf = (text: string, field: string): readonly string[] =>
    readText(text)
      .sources.filter((one) => one.field === field)
      .map(({ source }) => source);
  it("is the name on the page", () => {
    assert.deepEqual(sourceOf(vllmPage(), "requestsWaiting"), ["vllm:num_requests_waiting"]);
    assert.deepEqual(sourceOf(enginePayload("vllm-v0-0.6.prom"), "kvCacheUsedFraction"), ["vllm:gpu_cache_usage_perc"]);
    assert.deepEqual(sourceOf(vllmPage(), "kvCapacityTokens"), ["vllm:cache_config_info"]);
    assert.deepEqual(sourceOf(vllmPage(), "ttftP50Ms"), ["vllm:time_to_first_token_seconds_bucket"]);
  });
  it("is nothing where the field is not known", () => {
    assert.deepEqual(sourceOf(vllmPage([{ waiting: "NaN" }]), "requestsWaiting"), []);
  });
});

describe("labels that nobody asked for", () => {
  it("are summed over for counts", () => {
    const page = vllmPage([{ waiting: 3 }]).replace(
      /^vllm:num_requests_waiting\{(.*)\} 3$/m,
      'vllm:num_requests_waiting{$1,priority="0"} 1\nvllm:num_requests_waiting{$1,priority="1"} 2',
    );
    assert.equal(onlyReplica(page).requestsWaiting, 3);
  });
  it("are averaged over for fractions", () => {
    const page = vllmPage().replace(
      /^vllm:kv_cache_usage_perc\{(.*)\} .*$/m,
      'vllm:kv_cache_usage_perc{$1,pool="a"} 0.2\nvllm:kv_cache_usage_perc{$1,pool="b"} 0.4',
    );
    assert.equal(onlyReplica(page).kvCacheUsedFraction?.toFixed(6), "0.300000");
  });
  it("named pid are several processes that say the same: the largest speaks", () => {
    const page = vllmPage().replace(
      /^(vllm:(?:kv_cache_usage_perc|num_requests_running)\{.*)\} .*$/gm,
      '$1,pid="1"} 0\n$1,pid="2"} 0.75',
    );
    assert.equal(onlyReplica(page).kvCacheUsedFraction, 0.75);
    assert.equal(onlyReplica(page).requestsRunning, 0.75);
  });
});

describe("several processes of which one says what is no value", () => {
  for (const value of ["NaN", "-1", "+Inf", "-Inf"]) {
    it(`${value} is a fault, and not the others' zero`, () => {
      const page = vllmPage().replace(
        /^(vllm:num_requests_running\{.*)\} .*$/gm,
        `$1,pid="1"} 0\n$1,pid="2"} ${value}`,
      );
      assert.equal(onlyReplica(page).requestsRunning, null);
      assert.equal(codesOf(page, "requestsRunning").length, 1);
    });
  }
});

describe("the start of an engine", () => {
  it("is the front end's where no counter tells it", () => {
    const page = `${vllmPage([{ createdAt: null }])}process_start_time_seconds 1796000000.5\n`;
    assert.deepEqual(onlyReplica(page).startedAt, { source: "process_start_time_seconds", atMs: 1_796_000_000_500 });
  });
  for (const createdAt of ["NaN", "0", "-1", "+Inf", "1796000000000"]) {
    it(`is unknown and told where it is ${createdAt}`, () => {
      const page = vllmPage().replace(/^(vllm:prompt_tokens_created.*) .*$/m, `$1 ${createdAt}`);
      assert.equal(onlyReplica(page).startedAt, null);
      assert.deepEqual(codesOf(page, "startedAtMs"), ["missing"]);
    });
  }
});

describe("series without the label engine beside some that have it", () => {
  it("are engine 0's, and count once", () => {
    const page = vllmPage([{ outputTokens: 700 }, {}]).replace(
      /^vllm:generation_tokens_total\{engine="0",/m,
      "vllm:generation_tokens_total{",
    );
    const counted = onlyModel(page).replicas.map(({ counters }) => counters.outputTokens[0]?.values[0]);
    assert.deepEqual(counted, [700, 20_000]);
  });
});

describe("a page that breaks the contract", () => {
  const required: readonly (readonly [without: RegExp, named: string])[] = [
    [/^vllm:num_requests_running.*\n/gm, "vllm:num_requests_running"],
    [/^vllm:num_requests_waiting\{.*\n/gm, "vllm:num_requests_waiting"],
    [/^vllm:kv_cache_usage_perc.*\n/gm, "vllm:kv_cache_usage_perc"],
    [/^vllm:prompt_tokens_total.*\n/gm, "vllm:prompt_tokens_total"],
    [/^vllm:generation_tokens_total.*\n/gm, "vllm:generation_tokens_total"],
    [/^vllm:time_to_first_token_seconds_count.*\n/gm, "vllm:time_to_first_token_seconds_count"],
  ];
  for (const [without, named] of required) {
    it(`is told to lack ${named}`, () => {
      assert.deepEqual(codesOf(vllmPage().replace(without, ""), named), ["metrics-contract-broken"]);
    });
  }
  it("with one engine's line missing knows nothing of that engine's queue", () => {
    const page = vllmPage([{ waiting: 1 }, { waiting: 5 }]).replace(/^vllm:num_requests_waiting\{engine="1".*\n/m, "");
    assert.deepEqual(
      onlyModel(page).replicas.map(({ requestsWaiting }) => requestsWaiting),
      [1, null],
    );
    assert.deepEqual(codesOf(page, "requestsWaiting"), ["missing"]);
  });
  it("that is empty lists everything and invents no model", () => {
    const reading = readText("# nothing\n");
    assert.deepEqual(reading.models, []);
    assert.equal(reading.faults.filter(({ code }) => code === "metrics-contract-broken").length, 6);
  });
  it("that is empty still knows the listed model, unmeasured", () => {
    assert.deepEqual(onlyModel("# nothing\n", MODELS).replicas, []);
    assert.deepEqual(onlyModel("# nothing\n", MODELS).aliases, ["llama-3.3-70b"]);
  });
});

describe("values that are none", () => {
  const cases: readonly { readonly value: string; readonly code: string }[] = [
    { value: "NaN", code: "not-finite" },
    { value: "+Inf", code: "not-finite" },
    { value: "-1", code: "out-of-range" },
    { value: "9223372036854775794", code: "out-of-range" },
  ];
  for (const { value, code } of cases) {
    it(`${value} is null with the fault ${code}`, () => {
      const page = vllmPage([{ waiting: value, kvUsed: value }]);
      const replica = onlyReplica(page);
      assert.deepEqual([replica.requestsWaiting, replica.kvCacheUsedFraction], [null, null]);
      assert.deepEqual(codesOf(page, "requestsWaiting"), [code]);
      assert.deepEqual(codesOf(page, "kvCacheUsedFraction"), [code]);
    });
  }
  it("a fraction of 1.2 is a rounding, 45 is a contract broken silently", () => {
    assert.equal(onlyReplica(vllmPage([{ kvUsed: 1.2 }])).kvCacheUsedFraction, 1);
    assert.equal(onlyReplica(vllmPage([{ kvUsed: 45 }])).kvCacheUsedFraction, null);
    assert.deepEqual(codesOf(vllmPage([{ kvUsed: 45 }]), "kvCacheUsedFraction"), ["out-of-range"]);
  });
  it("a series that contradicts itself is null with the fault duplicate", () => {
    const page = `${vllmPage([{ waiting: 7 }])}vllm:num_requests_waiting{engine="0",model_name="${PAGE_MODEL}"} 0\n`;
    assert.equal(onlyReplica(page).requestsWaiting, null);
    assert.deepEqual(codesOf(page, "requestsWaiting"), ["duplicate"]);
  });
  it("a counter of NaN is no source", () => {
    const page = vllmPage([{ computedTokens: "NaN" }]);
    assert.equal(onlyReplica(page).counters.computedTokens[0]?.source, "queries - hits of prefix_cache");
    assert.deepEqual(codesOf(page, "newTokensPerSecond"), ["not-finite"]);
  });
  it("second-tier hits of NaN make all hits unknown", () => {
    const page = `${vllmPage()}vllm:external_prefix_cache_hits_total{engine="0",model_name="${PAGE_MODEL}"} NaN\n`;
    assert.deepEqual(onlyReplica(page).counters.prefixCache, []);
    assert.deepEqual(codesOf(page, "prefixHitFraction"), ["not-finite", "missing"]);
  });
  it("a histogram that shrinks from bound to bound is unknown", () => {
    const page = vllmPage([{ firstTokens: [50, 20, 100] }]);
    assert.deepEqual(onlyReplica(page).counters.firstToken, []);
    assert.deepEqual(codesOf(page, "ttftP50Ms"), ["incomplete-histogram"]);
  });
});

describe("sleep", () => {
  const sleeping = (state: string): string => {
    const one = (name: string): string =>
      `vllm:engine_sleep_state{engine="0",model_name="${PAGE_MODEL}",sleep_state="${name}"} ${name === state ? 1 : 0}`;
    return `${vllmPage()}${["awake", "weights_offloaded", "discard_all"].map(one).join("\n")}\n`;
  };
  it("is no state before vLLM told it", () => assert.equal(onlyReplica(vllmPage()).isAsleep, null));
  it("is told by the one-hot gauge", () => {
    assert.equal(onlyReplica(sleeping("awake")).isAsleep, false);
    assert.equal(onlyReplica(sleeping("weights_offloaded")).isAsleep, true);
    assert.equal(onlyReplica(sleeping("discard_all")).isAsleep, true);
    assert.equal(onlyReplica(sleeping("none of them")).isAsleep, null);
  });
});

describe("when the page cannot be had", () => {
  it("the model list still says what is served, and no contract is broken", () => {
    const reading = vllm.read({ page: null, models: MODELS, further: NOTHING_FURTHER });
    assert.deepEqual(
      reading.models.map(({ model, replicas }) => [model, replicas.length]),
      [[PAGE_MODEL, 0]],
    );
    assert.deepEqual(reading.faults, []);
  });
  it("and no list either, nothing is known", () => {
    assert.deepEqual(vllm.read({ page: null, models: null, further: NOTHING_FURTHER }).models, []);
  });
});

describe("several models on one page", () => {
  const page = `${vllmPage()}${vllmPage().replaceAll(PAGE_MODEL, "other")}`;
  it("are apart, and nobody knows whose cache it is", () => {
    const reading = readText(page);
    assert.deepEqual(
      reading.models.map(({ model, kvCapacityTokens }) => [model, kvCapacityTokens]),
      [
        [PAGE_MODEL, null],
        ["other", null],
      ],
    );
    assert.ok(reading.faults.some(({ field, code }) => field === "kvCapacityTokens" && code === "capacity-unknown"));
  });
});

describe("more engines than any deployment has", () => {
  it("is a fault and no sum of a part of them", () => {
    const lines = Array.from(
      { length: 300 },
      (_, at) => `vllm:num_requests_running{engine="${at}",model_name="m"} 1\n`,
    );
    const reading = readText(lines.join(""));
    assert.deepEqual(reading.models[0]?.replicas, []);
    assert.ok(reading.faults.some(({ code }) => code === "too-many-engines"));
  });
});
