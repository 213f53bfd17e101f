/** Payloads as engines' contracts describe them and no capture shows: each is read by the same rules, or named as a fault. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Counters, EngineReading, ReplicaReading } from "#edge-agent/engines/engine.ts";
import { engineOf } from "#edge-agent/engines/known.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { readDcgm } from "#edge-agent/gpu/dcgm.ts";
import { answered, answers, codesIn, heard, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { enginePayload, PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const readingOf = (page: string, models: unknown = null, engine = "auto") => {
  const payloads = { page: parseExposition(page), models, further: new Map() };
  const reading = engineOf(engine, payloads)?.read(payloads);
  assert.ok(reading);
  return reading;
};
const listOf = (...ids: readonly string[]) => ({ data: ids.map((id) => ({ id, root: id })) });
const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;

type Expected = {
  readonly model?: string;
  readonly kvCapacityTokens?: number | null;
  readonly replica?: Partial<Omit<ReplicaReading, "counters">>;
  /** Of the best source. */
  readonly counted?: Partial<Record<keyof Omit<Counters, "firstTokenBounds">, readonly number[] | null>>;
  readonly faults?: readonly string[];
};
const cases: readonly {
  readonly it: string;
  readonly page: string;
  readonly models?: unknown;
  readonly is: Expected;
}[] = [
  {
    it: "vLLM without HELP and TYPE, labels in odd order, a label that nobody knows, timestamps and exemplars",
    page: lines(
      'vllm:num_requests_running{zone="a",model_name="m",engine="0"} 3 1796000000000',
      'vllm:num_requests_waiting{engine="0",zone="a",model_name="m"} 2.0',
      'vllm:kv_cache_usage_perc{model_name="m",zone="a",engine="0"} 2.5e-1',
      'vllm:prompt_tokens_total{model_name="m",engine="0"} 1e3 # {trace_id="x"} 1 1796000000.1',
      'vllm:generation_tokens_total{model_name="m",engine="0"} 500',
      'vllm:time_to_first_token_seconds_count{model_name="m",engine="0"} 0',
    ),
    is: {
      model: "m",
      replica: { engine: "0", requestsRunning: 3, requestsWaiting: 2, kvCacheUsedFraction: 0.25 },
      counted: { promptTokens: [1_000], outputTokens: [500] },
    },
  },
  {
    it: "vLLM whose model's name has quotes, backslashes and a line feed",
    page: lines('vllm:num_requests_running{model_name="a\\"b\\\\c\\nd",engine="0"} 1'),
    is: { model: 'a"b\\c\nd', replica: { requestsRunning: 1 } },
  },
  {
    it: "vLLM with the label engine 0 and 1, gauges by process: the largest process of each engine, then their sum",
    page: lines(
      ...["0", "1"].flatMap((engine) =>
        ["7", "8"].map(
          (pid) => `vllm:num_requests_running{model_name="m",engine="${engine}",pid="${pid}"} ${pid === "7" ? 0 : 4}`,
        ),
      ),
    ),
    is: { model: "m", replica: { engine: "0", requestsRunning: 4 } },
  },
  {
    it: "vLLM whose waiting requests stand by reason only",
    page: lines(
      'vllm:num_requests_waiting_by_reason{model_name="m",engine="0",reason="capacity"} 5',
      'vllm:num_requests_waiting_by_reason{model_name="m",engine="0",reason="deferred"} 2',
      'vllm:num_requests_running{model_name="m",engine="0"} 1',
    ),
    is: { replica: { requestsWaiting: 7 } },
  },
  {
    it: "vLLM whose waiting requests stand by reason and by process: of each reason the largest process, then their sum",
    page: lines(
      ...["7", "8"].flatMap((pid) => [
        `vllm:num_requests_waiting_by_reason{model_name="m",engine="0",reason="capacity",pid="${pid}"} ${pid === "7" ? 0 : 5}`,
        `vllm:num_requests_waiting_by_reason{model_name="m",engine="0",reason="deferred",pid="${pid}"} ${pid === "7" ? 2 : 0}`,
      ]),
      'vllm:num_requests_running{model_name="m",engine="0",pid="7"} 1',
    ),
    is: { replica: { requestsWaiting: 7 } },
  },
  {
    it: "vLLM whose label model_name was taken away, of a server that lists one model",
    page: lines('vllm:num_requests_running{engine="0"} 4', 'vllm:num_requests_waiting{engine="0"} 0'),
    models: listOf("only"),
    is: { model: "only", replica: { requestsRunning: 4, requestsWaiting: 0 } },
  },
  {
    it: "vLLM under Ray, two replicas of one engine on a page: sums, and means of shares",
    page: lines(
      ...["a", "b"].flatMap((worker, at) => [
        `ray_vllm_num_requests_running{model_name="m",engine="0",WorkerId="${worker}"} ${at + 1}`,
        `ray_vllm_kv_cache_usage_perc{model_name="m",engine="0",WorkerId="${worker}"} ${at === 0 ? 0.2 : 0.6}`,
        `ray_vllm_prompt_tokens_total{model_name="m",engine="0",WorkerId="${worker}"} 100`,
      ]),
    ),
    is: { replica: { requestsRunning: 3, kvCacheUsedFraction: 0.4 }, counted: { promptTokens: [200] } },
  },
  {
    it: "vLLM of both generations: the new name speaks, nothing is added",
    page: lines(
      'vllm:kv_cache_usage_perc{model_name="m",engine="0"} 0.5',
      'vllm:gpu_cache_usage_perc{model_name="m",engine="0"} 0.5',
      'vllm:prefix_cache_queries_total{model_name="m",engine="0"} 100',
      'vllm:prefix_cache_hits_total{model_name="m",engine="0"} 40',
      'vllm:gpu_prefix_cache_queries_total{model_name="m",engine="0"} 100',
      'vllm:gpu_prefix_cache_hits_total{model_name="m",engine="0"} 40',
      'vllm:external_prefix_cache_hits_total{model_name="m",engine="0"} 10',
      'vllm:num_requests_running{model_name="m",engine="0"} 1',
    ),
    is: { replica: { kvCacheUsedFraction: 0.5 }, counted: { prefixCache: [100, 40, 10] } },
  },
  {
    it: "vLLM V0 with prefix caching off and no capacity",
    page: lines(
      'vllm:gpu_prefix_cache_hit_rate{model_name="m"} -1.0',
      'vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1.0',
      'vllm:num_requests_running{model_name="m"} 0.0',
    ),
    is: {
      kvCapacityTokens: null,
      replica: { engine: "0", prefixHitFraction: null },
      faults: ["prefixHitFraction missing", "kvCapacityTokens capacity-unknown"],
    },
  },
  {
    it: "vLLM with a gauge that is NaN, a percentage for a share, and a blank for a counter",
    page: lines(
      'vllm:num_requests_running{model_name="m",engine="0"} NaN',
      'vllm:kv_cache_usage_perc{model_name="m",engine="0"} 42',
      'vllm:prompt_tokens_total{model_name="m",engine="0"} 9223372036854775794',
    ),
    is: {
      replica: { requestsRunning: null, kvCacheUsedFraction: null },
      counted: { promptTokens: null },
      faults: ["requestsRunning not-finite", "kvCacheUsedFraction out-of-range", "newTokensPerSecond out-of-range"],
    },
  },
  {
    it: "a histogram with the bucket +Inf alone",
    page: lines(
      'vllm:num_requests_running{model_name="m",engine="0"} 1',
      'vllm:time_to_first_token_seconds_bucket{model_name="m",engine="0",le="+Inf"} 5',
    ),
    is: { counted: { firstToken: [5] } },
  },
  {
    it: "a histogram whose bounds are spelled oddly and stand out of order, over two values of a new label",
    page: lines(
      'vllm:num_requests_running{model_name="m",engine="0"} 1',
      ...["true", "false"].flatMap((streamed) =>
        [
          ["Inf", 4],
          ["1e-03", 1],
          ["1.0", 3],
        ].map(
          ([le, count]) =>
            `vllm:time_to_first_token_seconds_bucket{le="${le}",is_streaming="${streamed}",model_name="m",engine="0"} ${count}`,
        ),
      ),
    ),
    is: { counted: { firstToken: [2, 6, 8] } },
  },
  {
    it: "a histogram without the bucket +Inf",
    page: lines(
      'vllm:num_requests_running{model_name="m",engine="0"} 1',
      'vllm:time_to_first_token_seconds_bucket{model_name="m",engine="0",le="1"} 5',
    ),
    is: { counted: { firstToken: null }, faults: ["ttftP50Ms incomplete-histogram"] },
  },
  {
    it: "SGLang with priorities, ranks and two data-parallel ranks",
    page: lines(
      ...["0", "1"].flatMap((dp) =>
        ["0", "1"].flatMap((tp) => [
          ...[
            ["", 5],
            ["1", 3],
            ["2", 2],
          ].map(
            ([priority, count]) =>
              `sglang:num_running_reqs{model_name="m",engine_type="unified",tp_rank="${tp}",pp_rank="0",dp_rank="${dp}",priority="${priority}"} ${count}`,
          ),
          `sglang:num_queue_reqs{model_name="m",tp_rank="${tp}",pp_rank="0",dp_rank="${dp}"} 1`,
          `sglang:token_usage{model_name="m",tp_rank="${tp}",pp_rank="0",dp_rank="${dp}"} ${dp === "0" ? 0.2 : 0.4}`,
          `sglang:max_total_num_tokens{model_name="m",tp_rank="${tp}",pp_rank="0",dp_rank="${dp}"} 1000`,
        ]),
      ),
    ),
    is: {
      model: "m",
      kvCapacityTokens: 2_000,
      replica: { requestsRunning: 10, requestsWaiting: 2, kvCacheUsedFraction: 0.3 },
    },
  },
  {
    it: "SGLang under Ray, whose capacity is pages times their size",
    page: lines(
      'ray_sglang_num_running_reqs{model_name="m"} 2',
      'ray_sglang_num_queue_reqs{model_name="m"} 0',
      'ray_sglang_token_usage{model_name="m"} 0.1',
      'ray_sglang_num_pages{model_name="m"} 500',
      'ray_sglang_page_size{model_name="m"} 64',
    ),
    is: { kvCapacityTokens: 32_000, replica: { requestsRunning: 2, requestsWaiting: 0 } },
  },
  {
    it: "SGLang of spring 2026, whose capacity is in labels",
    page: lines(
      'sglang:num_running_reqs{model_name="m"} 2',
      'sglang:cache_config_info{model_name="m",page_size="16",num_pages="100"} 1',
    ),
    is: { kvCapacityTokens: 1_600 },
  },
  {
    it: "SGLang whose cache_hit_rate is all there is of hits: it is never read",
    page: lines('sglang:num_running_reqs{model_name="m"} 2', 'sglang:cache_hit_rate{model_name="m"} 0.9'),
    is: { replica: { prefixHitFraction: null }, counted: { prefixCache: null }, faults: ["prefixHitFraction missing"] },
  },
  {
    it: "SGLang's cached tokens by source, the total among them",
    page: lines(
      'sglang:num_running_reqs{model_name="m"} 2',
      'sglang:prompt_tokens_total{model_name="m"} 1000',
      'sglang:cached_tokens_total{model_name="m",cache_source="total"} 400',
      'sglang:cached_tokens_total{model_name="m",cache_source="device"} 300',
      'sglang:cached_tokens_total{model_name="m",cache_source="host"} 100',
    ),
    is: { counted: { prefixCache: [1_000, 400, 0], computedTokens: [600] } },
  },
  {
    it: "trtllm-serve without a utilisation: used blocks over all",
    page: lines(
      'trtllm_num_requests_running{model_name="m",engine_type="undefined"} 1',
      'trtllm_num_requests_waiting{model_name="m",engine_type="undefined"} 0',
      'trtllm_kv_cache_max_blocks{model_name="m"} 100',
      'trtllm_kv_cache_free_blocks{model_name="m"} 75',
      'trtllm_kv_cache_tokens_per_block{model_name="m"} 32',
    ),
    is: { model: "m", kvCapacityTokens: 3_200, replica: { kvCacheUsedFraction: 0.25 } },
  },
  {
    it: "Triton of older versions: who is active and not scheduled waits",
    page: lines(
      'nv_trt_llm_request_metrics{model="tensorrt_llm",version="1",request_type="active"} 9',
      'nv_trt_llm_request_metrics{model="tensorrt_llm",version="1",request_type="scheduled"} 6',
      'nv_trt_llm_kv_cache_block_metrics{model="tensorrt_llm",version="1",kv_cache_block_type="fraction"} 0.5',
    ),
    is: { replica: { requestsRunning: 6, requestsWaiting: 3, kvCacheUsedFraction: 0.5 } },
  },
  {
    it: "Dynamo's front end whose requests are called active",
    page: lines('dynamo_frontend_active_requests{model="m"} 7', 'dynamo_frontend_queued_requests{model="m"} 2'),
    is: { model: "m", replica: { requestsRunning: 5, requestsWaiting: 2 } },
  },
  {
    it: "Dynamo's worker whose percent is a share",
    page: lines(
      'dynamo_component_inflight_requests{dynamo_namespace="n",dynamo_component="c"} 3',
      'dynamo_component_kvstats_gpu_cache_usage_percent{dynamo_namespace="n",dynamo_component="c"} 0.75',
    ),
    models: listOf("m"),
    is: { replica: { requestsRunning: 3, kvCacheUsedFraction: 0.75 } },
  },
  {
    it: "NIM by the newer of its two names, with a restart's time",
    page: lines(
      'num_requests_running{model_name="m"} 1',
      'num_requests_waiting{model_name="m"} 4',
      'kv_cache_usage_perc{model_name="m"} 0.1',
      "process_start_time_seconds 1796000000.5",
    ),
    is: {
      replica: {
        requestsWaiting: 4,
        kvCacheUsedFraction: 0.1,
        startedAt: { source: "process_start_time_seconds", atMs: 1_796_000_000_500 },
      },
    },
  },
  {
    it: "TGI whose capacity has its other name, without a request so far",
    page: lines(
      ...[
        "tgi_queue_size 0",
        "tgi_batch_current_size 0",
        "tgi_batch_total_tokens 4096",
        "tgi_batch_current_max_tokens 1024",
      ],
      ...["tgi_request_skipped_tokens_sum 0", "tgi_request_skipped_tokens_count 0", "tgi_request_input_length_sum 0"],
    ),
    models: listOf("m"),
    is: { kvCapacityTokens: 4_096, replica: { kvCacheUsedFraction: 0.25 }, counted: { prefixCache: null } },
  },
];

const assertIs = ({ models: [model], faults }: EngineReading, is: Expected): void => {
  const replica = model?.replicas.toSorted((a, b) => (a.engine < b.engine ? -1 : 1))[0];
  if (is.model !== undefined) assert.equal(model?.model, is.model);
  if (is.kvCapacityTokens !== undefined) assert.equal(model?.kvCapacityTokens, is.kvCapacityTokens);
  for (const [field, value] of Object.entries(is.replica ?? {})) {
    assert.deepEqual(rounded(replica?.[field as keyof ReplicaReading]), rounded(value), field);
  }
  for (const [field, values] of Object.entries(is.counted ?? {})) {
    const [best] = replica?.counters[field as "prefill"] ?? [];
    assert.deepEqual(best?.values ?? null, values, field);
  }
  const told = faults.map(({ field, code }) => `${field} ${code}`);
  for (const fault of is.faults ?? []) assert.ok(told.includes(fault), `${fault} in ${told}`);
};

/** Means of decimal fractions are off by a last digit. */
const rounded = (value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(12)) : value);

describe("a payload that no capture shows", () => {
  for (const { it: what, page, models, is } of cases) {
    for (const [how, written] of [
      ["", page],
      [", with CRLF and a byte order mark", `\uFEFF${page.replaceAll("\n", "\r\n")}`],
      [", in another order of lines", lines(...page.trimEnd().split("\n").toReversed())],
    ] as const) {
      it(`is read: ${what}${how}`, () => {
        assertIs(readingOf(written, models), is);
      });
    }
  }
});

describe("an answer with status 200 that is no page", () => {
  const html = "<!DOCTYPE html>\n<html><body>Log in</body></html>\n";
  for (const [what, text, code] of [
    ["a login page", html, "html"],
    ["a login page behind blanks", `\uFEFF\n ${html}`, "html"],
    ["nothing", "", "empty"],
    ["comments alone", "# HELP a b\n# TYPE a gauge\n", "empty"],
  ] as const) {
    it(`makes nothing known and nothing new: ${what}`, () => {
      const page = answered(vllmPage());
      const other = answered(text, { contentType: "Text/HTML" });
      const known = heard([answers(0, { metrics: page }), answers(1_000, { metrics: other })]);
      const report = reportOf([known]);
      assert.deepEqual(codesIn(report, "page"), [code]);
      const model = onlyModelOf(report);
      assert.deepEqual([model.requestsWaiting, model.kvCacheUsedFraction, model.state], [null, null, "loaded"]);
      // Counters that are not there are no restart: what the caches hold stands.
      const before = onlyModelOf(reportOf([heard([answers(0, { metrics: page })])]));
      assert.deepEqual(
        model.replicas.map(({ startedAtMs }) => startedAtMs),
        before.replicas.map(({ startedAtMs }) => startedAtMs),
      );
    });
  }
  it("is OpenMetrics however its type is written", () => {
    const cut = answered(`${vllmPage()}`, { contentType: "Application/OpenMetrics-Text; version=1.0.0" });
    assert.deepEqual(codesIn(reportOf([heard([answers(0, { metrics: cut })])]), "page"), ["half-sent"]);
  });
});

describe("hits that grow much faster than queries", () => {
  it("are no share of them, and no 1 either: the field is unknown, by name", () => {
    const counted = (promptTokens: number, hits: number) =>
      heard([
        answers(0, { metrics: answered(vllmPage([{ promptTokens: 1_000, hits: 400 }])) }),
        answers(10_000, { metrics: answered(vllmPage([{ promptTokens, hits }])) }),
      ]);
    const share = (endpoint: ReturnType<typeof heard>) => {
      const report = reportOf([endpoint]);
      return [onlyModelOf(report).prefixHitFraction, codesIn(report, "prefixHitFraction")];
    };
    assert.deepEqual(share(counted(3_000, 1_400)), [0.5, []]);
    assert.deepEqual(share(counted(3_000, 9_000)), [null, ["out-of-range"]]);
  });
});

describe("a page with every family written twice", () => {
  it("has its values once, and says so", () => {
    const page = enginePayload("vllm-v1-current.t1.prom");
    const [once] = readingOf(page).models;
    const twice = readingOf(page + page);
    assert.deepEqual(twice.models[0]?.replicas, once?.replicas);
    assert.equal(once?.model, PAGE_MODEL);
    assert.ok(twice.faults.some(({ code }) => code === "duplicate"));
  });
});

describe("dcgm-exporter with a total of its own", () => {
  const page = (reserved: string): string =>
    lines(
      'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a"} 100',
      'DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a"} 800',
      `DCGM_FI_DEV_FB_TOTAL{gpu="0",UUID="GPU-a"} ${reserved}`,
    );
  it("says it also without what is reserved", () => {
    const { gpus, faults } = readDcgm(parseExposition(page("1000")), []);
    assert.deepEqual([gpus[0]?.memoryTotalBytes, faults], [1_000 * 1_048_576, []]);
  });
  it("whose total is blank does not know it", () => {
    const { gpus, faults } = readDcgm(parseExposition(page("9223372036854775794")), []);
    assert.deepEqual([gpus[0]?.memoryTotalBytes, faults[0]?.code], [null, "missing"]);
  });
});
