/** What SGLang says of data-parallel ranks that are this region's replicas: `/metrics`, `/v1/loads` and `/server_info`. */
import { type EngineOptions, totalBlocksOf } from "#gtm/simulation/serving/engine-options.ts";
import { type EngineOnPage, seriesOf, type Values } from "./engine-series.ts";
import type { Distribution, Family, Labels } from "./exposition.ts";
import type { TallyName } from "./tally.ts";

/** A version that has every name below. */
export const SGLANG_VERSION = "0.5.18";

/** Seconds, as its metrics collector has them. */
export const SGLANG_TTFT_BOUNDS = [0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400];

export type SglangFacts = {
  readonly model: string;
  readonly options: EngineOptions;
  readonly contextLimitTokens: number;
  readonly engines: readonly EngineOnPage[];
};

/** How much of a region's cache finished contexts fill is not known to the model's state: `kv_evictable_tokens` is left out. */
export const sglangFamilies = (facts: SglangFacts): readonly Family[] => {
  const capacity = capacityOf(facts.options);
  const gauge = (name: string, help: string, value: (engine: EngineOnPage) => number): Family => ({
    kind: "gauge",
    name: `sglang:${name}`,
    help,
    series: seriesOf(facts.engines, schedulerLabels(facts), { "": value }, null),
  });
  const counter = (name: string, help: string, values: Values): Family => ({
    kind: "counter",
    name: `sglang:${name}`,
    help,
    series: seriesOf(facts.engines, schedulerLabels(facts), values, "mode"),
  });
  return [
    gauge("num_running_reqs", "The number of running requests.", ({ state }) => state.running),
    gauge("num_queue_reqs", "The number of requests in the waiting queue.", ({ state }) => state.waiting),
    gauge("token_usage", "The token usage.", ({ state }) => Math.round(state.kvUsedFraction * 100) / 100),
    gauge("kv_used_tokens", "Tokens of running requests.", ({ state }) => Math.round(state.kvUsedFraction * capacity)),
    gauge("max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", () => capacity),
    gauge("context_len", "The context length.", () => facts.contextLimitTokens),
    // Of the last batch of prefill, and 0 after each batch of decode: nobody should read it.
    gauge("cache_hit_rate", "The prefix cache hit rate.", () => 0),
    gauge("fwd_occupancy", "Forward occupancy.", () => Number.NaN),
    counter("realtime_tokens", "Tokens processed, as they are.", {
      prefill_compute: ({ state }) => state.counters.computedTokens,
      prefill_cache: ({ state }) => state.counters.cachedTokens,
      decode: ({ state }) => state.decoded.outputTokens,
    }),
    ...ofAllRanks(facts),
  ];
};

const capacityOf = (options: EngineOptions): number => totalBlocksOf(options) * options.blockTokens;

const schedulerLabels =
  ({ model }: SglangFacts) =>
  (rank: number): Labels => ({
    ...{ model_name: model, engine_type: "unified", dp_rank: String(rank) },
    ...{ tp_rank: "0", pp_rank: "0", moe_ep_rank: "0" },
  });

/** The tokeniser's process counts over all ranks, and most of it when a request ends. */
const ofAllRanks = ({ engines, model }: SglangFacts): Family[] => {
  const labels = { model_name: model };
  const sum = (read: (engine: EngineOnPage) => number): number =>
    engines.reduce((all, engine) => all + read(engine), 0);
  const counter = (name: string, help: string, value: number, more: Labels = {}): Family => ({
    kind: "counter",
    name: `sglang:${name}`,
    help,
    series: [{ labels: { ...labels, ...more }, value }],
  });
  const histogram = (name: string, help: string, tally: TallyName): Family => ({
    kind: "histogram",
    name: `sglang:${name}`,
    help,
    series: [{ ...added(engines.map((engine) => engine.tally[tally])), labels }],
  });
  const cached = sum(({ state }) => state.counters.cachedTokens);
  return [
    counter(
      "prompt_tokens",
      "Number of prefill tokens processed.",
      sum(({ state }) => state.counters.promptTokens),
    ),
    counter(
      "generation_tokens",
      "Number of generation tokens processed.",
      sum(({ state }) => state.decoded.outputTokens),
    ),
    counter("cached_tokens", "Number of cached prompt tokens.", cached, { cache_source: "total" }),
    histogram("time_to_first_token_seconds", "Histogram of time to first token.", "time_to_first_token_seconds"),
    histogram("inter_token_latency_seconds", "Histogram of inter-token latency.", "inter_token_latency_seconds"),
    histogram("e2e_request_latency_seconds", "Histogram of end-to-end latency.", "e2e_request_latency_seconds"),
    histogram("queue_time_seconds", "Histogram of queueing time.", "request_queue_time_seconds"),
  ];
};

const added = (all: readonly Omit<Distribution, "labels">[]): Omit<Distribution, "labels"> => ({
  bounds: all[0]?.bounds ?? [],
  counts: (all[0]?.counts ?? []).map((_, at) => all.reduce((sum, { counts }) => sum + (counts[at] ?? 0), 0)),
  sum: all.reduce((total, { sum }) => total + sum, 0),
});

/** @param uncachedWaiting tokens, one number a rank */
export const sglangLoads = (facts: SglangFacts, uncachedWaiting: readonly number[]) => ({
  version: SGLANG_VERSION,
  loads: facts.engines.map(({ state, tally }, rank) => ({
    dp_rank: rank,
    num_running_reqs: state.running,
    num_waiting_reqs: state.waiting,
    num_waiting_uncached_tokens: uncachedWaiting[rank] ?? 0,
    num_used_tokens: Math.round(state.kvUsedFraction * capacityOf(facts.options)),
    max_total_num_tokens: capacityOf(facts.options),
    max_running_requests: facts.options.maxRunning,
    token_usage: state.kvUsedFraction,
    cache_hit_rate: 0,
    total_prefill_uncached_tokens: tally.request_prefill_kv_computed_tokens.sum,
    total_prefill_busy_us: Math.round(tally.request_prefill_time_seconds.sum * 1e6),
  })),
});

/** The real one holds every argument of the server, keys among them. */
export const sglangServerInfo = ({ model, options, engines, contextLimitTokens }: SglangFacts) => ({
  model_path: model,
  served_model_name: model,
  tp_size: 1,
  dp_size: engines.length,
  page_size: options.blockTokens,
  enable_metrics: true,
  context_length: contextLimitTokens,
  max_total_num_tokens: capacityOf(options),
  version: SGLANG_VERSION,
  internal_states: engines.map(() => ({})),
});
