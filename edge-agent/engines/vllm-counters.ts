/** What only grows on a vLLM page, under all the names it has had. */
import { labelOf, type Sample } from "../exposition-line.ts";
import type { Counters, Cumulative } from "./engine.ts";
import { counterNames, cumulative, difference, type Reader, UPPER_BOUND } from "./reader.ts";
import { VLLM_NAMES } from "./vllm-names.ts";

/** Faults of what is read go to the reader, also those of optional names whose absence leaves a field of the report empty. */
export const vllmCounters = (reader: Reader): Counters => {
  const { total, histogram } = reader;
  const prompt = total("newTokensPerSecond", VLLM_NAMES.promptTokens);
  const output = total("newTokensPerSecond", VLLM_NAMES.outputTokens);
  const prefixCache = prefixCacheOf(reader);
  const counters: Counters = {
    computedTokens: computedTokensOf(reader, prompt, prefixCache),
    promptTokens: cumulative("prompt_tokens", prompt),
    outputTokens: cumulative("generation_tokens", output),
    prefixCache,
    prefill: histogram("prefillTokensPerSecond", VLLM_NAMES.prefillTokensPerSecond),
    prefillBusy: [],
    decode: histogram("backlogMs", VLLM_NAMES.decodeMs),
    interToken: histogram("itlMs", VLLM_NAMES.itlMs),
    ...reader.firstToken(VLLM_NAMES.ttftP50Ms),
  };
  if (counters.prefill.length === 0) reader.fault("prefillTokensPerSecond", "missing");
  if (counters.interToken.length === 0) reader.fault("itlMs", "missing");
  if (counters.computedTokens[0]?.source === UPPER_BOUND) reader.fault("newTokensPerSecond", "upper-bound");
  return counters;
};

/** Queries and hits of one name only: 0.8 counts blocks under `gpu_…`, later versions count tokens. */
const prefixCacheOf = ({ find, total }: Reader): readonly Cumulative[] => {
  const field = "prefixHitFraction";
  for (const name of ["prefix_cache", "gpu_prefix_cache"]) {
    const queries = total(field, counterNames(`${name}_queries`));
    const hits = total(field, counterNames(`${name}_hits`));
    if (queries === null || hits === null) continue;
    if (find(VLLM_NAMES.secondTierHits).samples.length === 0) return cumulative(name, queries, hits, 0);
    return cumulative(`${name} and external`, queries, hits, total(field, VLLM_NAMES.secondTierHits));
  }
  return [];
};

const computedTokensOf = (
  { total }: Reader,
  prompt: number | null,
  prefixCache: readonly Cumulative[],
): readonly Cumulative[] => {
  const field = "newTokensPerSecond";
  const bySource = total(field, VLLM_NAMES.computedTokens, (samples) => samples.filter(isComputed));
  const cached = total(field, VLLM_NAMES.cachedTokens);
  const inTokens = prefixCache.filter(({ source }) => source.startsWith("prefix_cache"));
  return [
    ...cumulative("prompt_tokens_by_source", bySource),
    ...cumulative("prompt_tokens - prompt_tokens_cached", difference(prompt, cached)),
    ...inTokens.flatMap(({ source, values: [queries = 0, hits = 0, secondTier = 0] }) =>
      cumulative(`queries - hits of ${source}`, queries - hits - secondTier),
    ),
    ...cumulative(UPPER_BOUND, prompt),
  ];
};

const isComputed = (sample: Sample): boolean => labelOf(sample, "source") === "local_compute";
