/** Names on trtllm-serve's `/prometheus/metrics`: prefixed since 1.3, five without a prefix before. */
import type { FieldNames } from "./engine.ts";

export const TRTLLM_PAGE = "/prometheus/metrics";

export const TRTLLM_NAMES = {
  requestsRunning: ["trtllm_num_requests_running"],
  requestsWaiting: ["trtllm_num_requests_waiting"],
  kvCacheUsedFraction: ["trtllm_kv_cache_utilization"],
  kvMaxBlocks: ["trtllm_kv_cache_max_blocks"],
  kvUsedBlocks: ["trtllm_kv_cache_used_blocks"],
  kvFreeBlocks: ["trtllm_kv_cache_free_blocks"],
  kvTokensPerBlock: ["trtllm_kv_cache_tokens_per_block"],
  gpuMemoryBytes: ["trtllm_gpu_memory_usage_bytes"],
  reusedBlocks: ["trtllm_kv_cache_reused_blocks_total"],
  missedBlocks: ["trtllm_kv_cache_missed_blocks_total"],
  promptTokens: ["trtllm_prompt_tokens_total"],
  cachedTokens: ["trtllm_prompt_cached_tokens_total"],
  outputTokens: ["trtllm_generation_tokens_total"],
  prefillTokensPerSecond: ["trtllm_request_prefill_time_seconds"],
  decodeMs: ["trtllm_request_decode_time_seconds"],
  itlMs: ["trtllm_time_per_output_token_seconds", "time_per_output_token_seconds"],
  ttftP50Ms: ["trtllm_time_to_first_token_seconds", "time_to_first_token_seconds"],
} as const satisfies FieldNames;

/** Of the generation with a prefix. */
export const TRTLLM_REQUIRED: readonly (readonly string[])[] = [
  TRTLLM_NAMES.requestsRunning,
  TRTLLM_NAMES.requestsWaiting,
  [...TRTLLM_NAMES.kvCacheUsedFraction, ...TRTLLM_NAMES.kvUsedBlocks, ...TRTLLM_NAMES.kvFreeBlocks],
];
