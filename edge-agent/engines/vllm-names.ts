/** Every name that vLLM has had for what is read, newest first, without the prefix. Renames: vllm-project/vllm#18354, #24110, #14136. */
import type { FieldNames } from "./engine.ts";
import { counterNames } from "./reader.ts";
import { SLEEP_STATE } from "./vllm-sleep.ts";

/** `vllm:` itself; Ray Serve turns the colon into an underscore and its exporter prefixes `ray_`. */
export const VLLM_PREFIXES = ["vllm:", "ray_vllm_", "vllm_", "ray_vllm:"] as const;

export const VLLM_NAMES = {
  requestsRunning: ["num_requests_running"],
  /** The second is split by reason; summed it is the same. */
  requestsWaiting: ["num_requests_waiting", "num_requests_waiting_by_reason"],
  kvCacheUsedFraction: ["kv_cache_usage_perc", "gpu_cache_usage_perc"],
  kvCapacityTokens: ["cache_config_info"],
  promptTokens: counterNames("prompt_tokens"),
  outputTokens: counterNames("generation_tokens"),
  computedTokens: counterNames("prompt_tokens_by_source"),
  cachedTokens: counterNames("prompt_tokens_cached"),
  prefixQueries: counterNames("prefix_cache_queries", "gpu_prefix_cache_queries"),
  prefixHits: counterNames("prefix_cache_hits", "gpu_prefix_cache_hits"),
  secondTierHits: counterNames("external_prefix_cache_hits"),
  prefixHitFraction: ["gpu_prefix_cache_hit_rate"],
  prefillTokensPerSecond: ["request_prefill_time_seconds"],
  decodeMs: ["request_decode_time_seconds"],
  itlMs: ["inter_token_latency_seconds", "time_per_output_token_seconds"],
  ttftP50Ms: ["time_to_first_token_seconds"],
  isAsleep: [SLEEP_STATE],
  adapters: ["lora_requests_info"],
  startedAtMs: ["prompt_tokens_created", "generation_tokens_created"],
} as const satisfies FieldNames;

/** Without these nothing can be decided; old names stand behind the new ones. */
export const VLLM_REQUIRED: readonly (readonly string[])[] = [
  VLLM_NAMES.requestsRunning,
  VLLM_NAMES.requestsWaiting,
  VLLM_NAMES.kvCacheUsedFraction,
  VLLM_NAMES.promptTokens,
  VLLM_NAMES.outputTokens,
  ["time_to_first_token_seconds_count"],
];
