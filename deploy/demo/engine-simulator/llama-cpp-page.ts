/** What llama.cpp's server says of itself: `/metrics`, `/slots` and `/props`. One process with slots is the region's one replica. */
import { type EngineOptions, totalBlocksOf } from "#gtm/simulation/serving/engine-options.ts";
import type { EngineOnPage } from "./engine-series.ts";
import type { Family } from "./exposition.ts";

export const LLAMA_CPP_BUILD = "b10519-simulated";

export type LlamaCppFacts = {
  readonly model: string;
  readonly options: EngineOptions;
  readonly engine: EngineOnPage;
  readonly isAsleep: boolean;
};

export const llamaCppFamilies = ({ engine: { state, tally } }: LlamaCppFacts): readonly Family[] => {
  const computed = tally.request_prefill_kv_computed_tokens.sum;
  const of = (kind: "counter" | "gauge", name: string, value: number): Family => ({
    kind,
    name: `llamacpp:${name}`,
    help: name.replaceAll("_", " "),
    series: [{ labels: {}, value }],
  });
  return [
    // Without what was cached; both advance when a slot is released.
    of("counter", "prompt_tokens", computed),
    of("counter", "prompt_tokens_cached", Math.max(0, tally.request_prompt_tokens.sum - computed)),
    of("counter", "prompt_seconds", tally.request_prefill_time_seconds.sum),
    of("counter", "tokens_predicted", state.decoded.outputTokens),
    of("counter", "tokens_predicted_seconds", state.decoded.gapsMs / 1_000),
    of("counter", "n_decode", state.decoded.gaps),
    // Means since anybody scraped last, which is nobody's business: always 0 for the second reader.
    of("gauge", "prompt_tokens_seconds", 0),
    of("gauge", "predicted_tokens_seconds", 0),
    of("gauge", "requests_processing", state.running),
    of("gauge", "requests_deferred", state.waiting),
  ];
};

/** One request's share of a process: the real one has far fewer slots than vLLM has places. */
const contextOf = (options: EngineOptions): number =>
  Math.floor((totalBlocksOf(options) * options.blockTokens) / options.maxRunning);

export const llamaCppProps = ({ model, options, isAsleep }: LlamaCppFacts) => ({
  default_generation_settings: { n_ctx: contextOf(options) },
  total_slots: options.maxRunning,
  model_alias: model,
  model_path: `/models/${model}.gguf`,
  endpoint_slots: true,
  endpoint_metrics: true,
  build_info: LLAMA_CPP_BUILD,
  is_sleeping: isAsleep,
});

/** @param decoding prompt and output tokens of each request that decodes; the others of the running ones are prefilling */
export const llamaCppSlots = (
  { options, engine: { state } }: LlamaCppFacts,
  decoding: readonly { readonly promptTokens: number; readonly outputTokens: number }[],
) => {
  const used = state.kvUsedFraction * totalBlocksOf(options) * options.blockTokens;
  const prefilling = Math.max(0, state.running - decoding.length);
  const ofDecoding = decoding.reduce((sum, one) => sum + one.promptTokens + one.outputTokens, 0);
  const each = prefilling === 0 ? 0 : Math.max(0, Math.round((used - ofDecoding) / prefilling));
  const busy = [...decoding, ...Array.from({ length: prefilling }, () => ({ promptTokens: each, outputTokens: 0 }))];
  return Array.from({ length: options.maxRunning }, (_, id) => {
    const request = busy[id];
    const slot = { id, n_ctx: contextOf(options), is_processing: request !== undefined };
    if (request === undefined) return slot;
    return { ...slot, n_prompt_tokens: request.promptTokens, next_token: [{ n_decoded: request.outputTokens }] };
  });
};
