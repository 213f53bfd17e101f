/** What only grows on an SGLang page. `cache_hit_rate` and `gen_throughput` are gauges of the last batch and never read. */
import { labelOf, type Sample } from "../exposition-line.ts";
import { type Counters, type Cumulative, NO_COUNTERS } from "./engine.ts";
import { cumulative, difference, type Pick, type Reader, UPPER_BOUND } from "./reader.ts";
import { SGLANG_NAMES } from "./sglang-names.ts";

const modes =
  (...wanted: readonly string[]): Pick =>
  (samples) =>
    samples.filter((sample) => wanted.includes(labelOf(sample, "mode") ?? ""));

const HITS = ["device_hit", "host_hit", "storage_hit"] as const;

export const sglangCounters = (reader: Reader): Counters => {
  const { total, histogram } = reader;
  const field = "newTokensPerSecond";
  const prompt = total(field, SGLANG_NAMES.promptTokens);
  const cached = total("prefixHitFraction", SGLANG_NAMES.cachedTokens, cachedOnce);
  const computed = total(field, SGLANG_NAMES.realtimeTokens, modes("prefill_compute"));
  const fromCache = total("prefixHitFraction", SGLANG_NAMES.realtimeTokens, modes("prefill_cache"));
  const decoded = total(field, SGLANG_NAMES.realtimeTokens, modes("decode"));
  const counters: Counters = {
    ...NO_COUNTERS,
    computedTokens: [
      ...cumulative("realtime_tokens prefill_compute", computed),
      ...cumulative("prompt_tokens - cached_tokens", difference(prompt, cached)),
      ...cumulative(UPPER_BOUND, prompt),
    ],
    promptTokens: [
      ...cumulative("realtime_tokens of prefill", plus(computed, computed === null ? null : (fromCache ?? 0))),
      ...cumulative("prompt_tokens", prompt),
    ],
    outputTokens: [
      ...cumulative("realtime_tokens decode", decoded),
      ...cumulative("generation_tokens", total(field, SGLANG_NAMES.outputTokens)),
    ],
    prefixCache: [
      ...effectiveHits(reader),
      ...cumulative("realtime_tokens", plus(computed, fromCache), fromCache, 0),
      ...cumulative("cached_tokens", prompt, cached, 0),
    ],
    interToken: histogram("itlMs", SGLANG_NAMES.itlMs),
    ...reader.firstToken(SGLANG_NAMES.ttftP50Ms),
  };
  if (counters.prefixCache.length === 0) reader.fault("prefixHitFraction", "missing");
  if (counters.interToken.length === 0) reader.fault("itlMs", "missing");
  if (counters.firstToken.length === 0) reader.fault("ttftP50Ms", "missing");
  if (counters.computedTokens.length === 0) reader.fault(field, "missing");
  if (counters.computedTokens[0]?.source === UPPER_BOUND) reader.fault(field, "upper-bound");
  return counters;
};

/** Each prefilled token once, however often its request was put back: 0.5.18 and later. */
const effectiveHits = ({ total }: Reader): readonly Cumulative[] => {
  const field = "prefixHitFraction";
  const all = total(field, SGLANG_NAMES.prefillTokens);
  const hits = total(field, SGLANG_NAMES.prefillTokens, modes(...HITS));
  // Before the first hit there is no series of hits, beside those of the tokens that were none.
  return cumulative("prefill_effective_tokens", all, all === null ? null : (hits ?? 0), 0);
};

/** By source, where one of them may be the total already; older versions have no such label. */
const cachedOnce: Pick = (samples) => {
  const totals = samples.filter((sample) => labelOf(sample, "cache_source") === "total");
  return totals.length > 0 ? totals : samples;
};

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

const RANKS = ["tp_rank", "pp_rank", "moe_ep_rank"] as const;

/**
 * Each data-parallel rank once, by its lowest rank of the others, which say the same; and over all priorities, of which the
 * one named "" is the total already.
 */
export const oncePerRank: Pick = (samples) => {
  const totals = samples.filter((sample) => (labelOf(sample, "priority") ?? "") === "");
  const byRank = Map.groupBy(totals.length > 0 ? totals : samples, (sample) => labelOf(sample, "dp_rank") ?? "");
  return [...byRank.values()].flatMap((same) => {
    const lowest = Math.min(...same.map(rankOf));
    return same.filter((sample) => rankOf(sample) === lowest);
  });
};

/** As one number that orders like the ranks one after another; none is above 9 999. */
const rankOf = (sample: Sample): number =>
  RANKS.reduce((at, label) => at * 10_000 + (Number(labelOf(sample, label) ?? 0) || 0), 0);
