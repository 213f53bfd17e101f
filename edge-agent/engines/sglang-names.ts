/** Every name that SGLang has had for what is read, newest first (srt/observability/metrics_collector.py, earlier srt/metrics/collector.py). */
import type { FieldNames } from "./engine.ts";
import { counterNames } from "./reader.ts";

/** Exporters such as Ray's turn the colon into an underscore. */
export const SGLANG_PREFIXES = ["sglang:", "sglang_", "ray_sglang_", "ray_sglang:"] as const;

export const SGLANG_NAMES = {
  requestsRunning: ["num_running_reqs"],
  requestsWaiting: ["num_queue_reqs"],
  /** Requests that wait elsewhere: for a grammar, or between the two halves of disaggregated prefill and decode. */
  alsoWaiting: [
    "num_grammar_queue_reqs",
    "num_prefill_bootstrap_queue_reqs",
    "num_prefill_inflight_queue_reqs",
    "num_decode_prealloc_queue_reqs",
    "num_decode_transfer_queue_reqs",
  ],
  kvCapacityTokens: ["max_total_num_tokens"],
  /** Their product, where the one above is not there. */
  kvPages: ["num_pages"],
  kvTokensPerPage: ["page_size"],
  /** Labels page_size and num_pages; from February to May 2026 only. */
  cacheConfig: ["cache_config_info"],
  kvUsedTokens: ["kv_used_tokens"],
  kvEvictableTokens: ["kv_evictable_tokens"],
  /** Two decimals, and the fullest of several pools. */
  kvCacheUsedFraction: ["token_usage"],
  contextLimitTokens: ["context_len"],
  /** By `mode`: input, device_hit, host_hit, storage_hit. */
  prefillTokens: counterNames("prefill_effective_tokens"),
  /** By `mode`: prefill_compute, prefill_cache, decode; the only ones that advance while a request runs. */
  realtimeTokens: counterNames("realtime_tokens"),
  promptTokens: counterNames("prompt_tokens"),
  cachedTokens: counterNames("cached_tokens"),
  outputTokens: counterNames("generation_tokens"),
  itlMs: ["inter_token_latency_seconds", "time_per_output_token_seconds"],
  ttftP50Ms: ["time_to_first_token_seconds"],
} as const satisfies FieldNames;

/** Gauges of the scheduler are there from the start; counters appear with the first request that moves them. */
export const SGLANG_REQUIRED: readonly (readonly string[])[] = [
  SGLANG_NAMES.requestsRunning,
  SGLANG_NAMES.requestsWaiting,
  [...SGLANG_NAMES.kvUsedTokens, ...SGLANG_NAMES.kvCacheUsedFraction],
];
