/** Names that Dynamo's front end and its workers write. */
import type { FieldNames } from "./engine.ts";

export const FRONT_END = {
  requestsInFlight: ["dynamo_frontend_inflight_requests", "dynamo_frontend_active_requests"],
  /** Until the first token. */
  requestsWaiting: ["dynamo_frontend_queued_requests"],
  contextLimitTokens: ["dynamo_frontend_model_context_length"],
  kvTokensPerBlock: ["dynamo_frontend_model_kv_cache_block_size"],
  /** Of one worker. */
  kvTotalBlocks: ["dynamo_frontend_model_total_kv_blocks"],
  outputTokens: ["dynamo_frontend_output_tokens_total"],
  /** Histograms. */
  promptTokens: ["dynamo_frontend_input_sequence_tokens"],
  cachedTokens: ["dynamo_frontend_cached_tokens"],
  itlMs: ["dynamo_frontend_inter_token_latency_seconds"],
  ttftP50Ms: ["dynamo_frontend_time_to_first_token_seconds"],
} as const satisfies FieldNames;

export const WORKER = {
  requestsRunning: ["dynamo_component_inflight_requests"],
  kvActiveBlocks: ["dynamo_component_kvstats_active_blocks"],
  kvTotalBlocks: ["dynamo_component_kvstats_total_blocks"],
  kvCacheUsedFraction: ["dynamo_component_kvstats_gpu_cache_usage_percent", "dynamo_component_gpu_cache_usage_percent"],
  prefixHitFraction: [
    "dynamo_component_kvstats_gpu_prefix_cache_hit_rate",
    "dynamo_component_gpu_prefix_cache_hit_rate",
  ],
} as const satisfies FieldNames;

/** Series of single workers begin like this and name them by `worker_id`. */
export const OF_ONE_WORKER = "dynamo_frontend_worker_";
