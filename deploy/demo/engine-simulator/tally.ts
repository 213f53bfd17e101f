/** What one replica's requests took, in vLLM's histograms: some are known at the first token, most when a request ends. */
import type { Decoded } from "#gtm/simulation/serving/replica.ts";
import type { ServingEvent } from "#gtm/simulation/serving/request.ts";
import { GAP_BOUNDS, N_BOUNDS, PHASE_BOUNDS, TTFT_BOUNDS, tokenBounds } from "./bucket-bounds.ts";
import { createHistogram, type Histogram, observe } from "./histogram.ts";

export type Tally = Readonly<Record<TallyName, Histogram>> & { decoded: Decoded };
export type TallyName = keyof typeof HELP;

/** By vLLM's names. */
export const HELP = {
  time_to_first_token_seconds: "Histogram of time to first token in seconds.",
  inter_token_latency_seconds: "Histogram of inter-token latency in seconds.",
  request_time_per_output_token_seconds: "Histogram of time_per_output_token_seconds per request.",
  e2e_request_latency_seconds: "Histogram of e2e request latency in seconds.",
  request_queue_time_seconds: "Histogram of time spent in WAITING phase for request.",
  request_inference_time_seconds: "Histogram of time spent in RUNNING phase for request.",
  request_prefill_time_seconds: "Histogram of time spent in PREFILL phase for request.",
  request_decode_time_seconds: "Histogram of time spent in DECODE phase for request.",
  request_prompt_tokens: "Number of prefill tokens processed.",
  request_generation_tokens: "Number of generation tokens processed.",
  request_max_num_generation_tokens: "Histogram of maximum number of requested generation tokens.",
  request_prefill_kv_computed_tokens: "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
  request_params_n: "Histogram of the n request parameter.",
} as const;

export const createTally = (contextLimitTokens: number, ttftBounds: readonly number[] = TTFT_BOUNDS): Tally => {
  const tokens = tokenBounds(contextLimitTokens);
  return {
    time_to_first_token_seconds: createHistogram(ttftBounds),
    inter_token_latency_seconds: createHistogram(GAP_BOUNDS),
    request_time_per_output_token_seconds: createHistogram(GAP_BOUNDS),
    e2e_request_latency_seconds: createHistogram(PHASE_BOUNDS),
    request_queue_time_seconds: createHistogram(PHASE_BOUNDS),
    request_inference_time_seconds: createHistogram(PHASE_BOUNDS),
    request_prefill_time_seconds: createHistogram(PHASE_BOUNDS),
    request_decode_time_seconds: createHistogram(PHASE_BOUNDS),
    request_prompt_tokens: createHistogram(tokens),
    request_generation_tokens: createHistogram(tokens),
    request_max_num_generation_tokens: createHistogram(tokens),
    request_prefill_kv_computed_tokens: createHistogram(tokens),
    request_params_n: createHistogram(N_BOUNDS),
    decoded: { outputTokens: 0, gaps: 0, gapsMs: 0 },
  };
};

/** Gaps since the last look, at their mean: looks are closer together than two tokens of an answer. */
export const tallyDecoded = (tally: Tally, decoded: Decoded): void => {
  const gaps = decoded.gaps - tally.decoded.gaps;
  if (gaps <= 0) return;
  observe(tally.inter_token_latency_seconds, (decoded.gapsMs - tally.decoded.gapsMs) / gaps / 1_000, gaps);
  tally.decoded = decoded;
};

export const tallyEvent = (tally: Tally, event: ServingEvent): void => {
  if (event.kind === "first-token") {
    observe(tally.time_to_first_token_seconds, (event.atMs - event.submittedAtMs) / 1_000);
  } else if (event.kind === "finished") {
    tallyFinished(tally, event);
  }
};

const tallyFinished = (tally: Tally, event: Extract<ServingEvent, { kind: "finished" }>): void => {
  const { request, submittedAtMs, startedAtMs, firstTokenAtMs, atMs, outputTokens } = event;
  const seconds = (name: TallyName, fromMs: number, toMs: number) => observe(tally[name], (toMs - fromMs) / 1_000);
  seconds("e2e_request_latency_seconds", submittedAtMs, atMs);
  seconds("request_queue_time_seconds", submittedAtMs, startedAtMs ?? atMs);
  observe(tally.request_prompt_tokens, request.promptTokens);
  observe(tally.request_generation_tokens, outputTokens);
  observe(tally.request_max_num_generation_tokens, request.outputTokens);
  observe(tally.request_params_n, 1);
  if (startedAtMs === null || firstTokenAtMs === null) return;
  seconds("request_inference_time_seconds", startedAtMs, atMs);
  seconds("request_prefill_time_seconds", startedAtMs, firstTokenAtMs);
  seconds("request_decode_time_seconds", firstTokenAtMs, atMs);
  observe(tally.request_prefill_kv_computed_tokens, event.computedTokens);
  const gaps = outputTokens - 1;
  if (gaps > 0) observe(tally.request_time_per_output_token_seconds, (atMs - firstTokenAtMs) / gaps / 1_000);
};
