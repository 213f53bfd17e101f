/** What only grows on a vLLM page, under all the names it has had. */
import type { Fault } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import type { Counters, Cumulative } from "./engine.ts";
import { bucketsOf } from "./histogram.ts";
import { type Find, totalOf } from "./series.ts";

/** vLLM exposes counters with `_total`; exporters that Ray brings may leave it out. */
const counterNames = (name: string): readonly string[] => [`${name}_total`, name];

export const vllmCounters = (find: Find): { counters: Counters; faults: readonly Fault[] } => {
  const faults: Fault[] = [];
  /** Unknown for a reason other than absence: that is a fault of its own, whatever else stands in for it. */
  const total = (
    field: string,
    names: readonly string[],
    keep: (sample: Sample) => boolean = () => true,
  ): number | null => {
    const found = find(names);
    const value = totalOf({ ...found, samples: found.samples.filter(keep) }, "sum");
    if (value.kind === "known") return value.value;
    if (value.code !== "missing") faults.push({ field, code: value.code });
    return null;
  };
  const histogram = (field: string, names: readonly string[]): readonly Cumulative[] => {
    for (const name of names) {
      const count = total(field, [`${name}_count`]);
      const sum = total(field, [`${name}_sum`]);
      if (count !== null && sum !== null) return [{ source: name, values: [count, sum] }];
    }
    return [];
  };

  const prompt = total("newTokensPerSecond", counterNames("prompt_tokens"));
  const output = total("newTokensPerSecond", counterNames("generation_tokens"));
  const prefixCache = prefixCacheOf(find, total);
  const firstToken = bucketsOf(find(["time_to_first_token_seconds_bucket"]));
  if (firstToken.kind === "unknown" && firstToken.code !== "missing") {
    faults.push({ field: "ttftP50Ms", code: firstToken.code });
  }
  const buckets = firstToken.kind === "known" ? firstToken : { bounds: [], counts: [] };
  const counters: Counters = {
    computedTokens: computedTokensOf(total, prompt, prefixCache),
    promptTokens: cumulative("prompt_tokens", prompt),
    outputTokens: cumulative("generation_tokens", output),
    prefixCache,
    prefill: histogram("prefillTokensPerSecond", ["request_prefill_time_seconds"]),
    prefillBusy: [],
    decode: histogram("backlogMs", ["request_decode_time_seconds"]),
    // The same measure; renamed in September 2025.
    interToken: histogram("itlMs", ["inter_token_latency_seconds", "time_per_output_token_seconds"]),
    firstToken: buckets.counts.length === 0 ? [] : [{ source: `ttft le=${buckets.bounds}`, values: buckets.counts }],
    firstTokenBounds: buckets.bounds,
  };
  return { counters, faults: [...faults, ...absent(counters)] };
};

type Total = (field: string, names: readonly string[], keep?: (sample: Sample) => boolean) => number | null;

const cumulative = (source: string, ...values: readonly (number | null)[]): readonly Cumulative[] => {
  const known = values.filter((value) => value !== null);
  return known.length === values.length && known.every((value) => value >= 0) ? [{ source, values: known }] : [];
};

/** Queries and hits of one name only: 0.8 counts blocks under `gpu_…`, later versions count tokens. */
const prefixCacheOf = (find: Find, total: Total): readonly Cumulative[] => {
  const field = "prefixHitFraction";
  const secondTierNames = counterNames("external_prefix_cache_hits");
  for (const name of ["prefix_cache", "gpu_prefix_cache"]) {
    const queries = total(field, counterNames(`${name}_queries`));
    const hits = total(field, counterNames(`${name}_hits`));
    if (queries === null || hits === null) continue;
    if (find(secondTierNames).samples.length === 0) return cumulative(name, queries, hits, 0);
    return cumulative(`${name} and external`, queries, hits, total(field, secondTierNames));
  }
  return [];
};

/** The source of a number that is too large: it holds cached tokens too. */
export const UPPER_BOUND = "prompt_tokens, cached ones included";

const computedTokensOf = (
  total: Total,
  prompt: number | null,
  prefixCache: readonly Cumulative[],
): readonly Cumulative[] => {
  const field = "newTokensPerSecond";
  const isComputed = (sample: Sample): boolean => labelOf(sample, "source") === "local_compute";
  const bySource = total(field, counterNames("prompt_tokens_by_source"), isComputed);
  const cached = total(field, counterNames("prompt_tokens_cached"));
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

const difference = (from: number | null, taken: number | null): number | null =>
  from === null || taken === null ? null : from - taken;

/** Optional names, whose absence leaves a field of the report empty. */
const absent = (counters: Counters): readonly Fault[] => {
  const faults: Fault[] = [];
  if (counters.prefixCache.length === 0) faults.push({ field: "prefixHitFraction", code: "missing" });
  if (counters.prefill.length === 0) faults.push({ field: "prefillTokensPerSecond", code: "missing" });
  if (counters.interToken.length === 0) faults.push({ field: "itlMs", code: "missing" });
  if (counters.computedTokens[0]?.source === UPPER_BOUND) {
    faults.push({ field: "newTokensPerSecond", code: "upper-bound" });
  }
  return faults;
};
