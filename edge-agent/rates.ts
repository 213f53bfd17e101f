/** What one replica's counters did over the last minute: rates and means, honest over restarts, silent where several processes answer. */
import type { Counters, Cumulative } from "./engines/engine.ts";
import type { History, Scrape } from "./history.ts";
import { TELLING_TOKENS } from "./prefill-confidence.ts";

/** Growth over the window; null: not known, or nothing happened that could be averaged. */
export type ReplicaRates = {
  readonly computedTokensPerSecond: number | null;
  readonly promptTokensPerSecond: number | null;
  readonly outputTokensPerSecond: number | null;
  readonly prefixCache: { readonly queries: number; readonly hits: number } | null;
  readonly prefill: PrefillRate | null;
  /** Computed prompt tokens, and the first tokens that came out of them. */
  readonly perFirstToken: { readonly computedTokens: number; readonly firstTokens: number } | null;
  readonly interToken: Summary | null;
  /** Over the window; where no request ended in it, over the process's life. */
  readonly decode: Summary | null;
  readonly firstToken: FirstToken | null;
};

export type PrefillRate = {
  /** Computed, per second of prefill time. */
  readonly tokensPerSecond: number;
  /** How many it rests on, and how many tokens they computed on average. */
  readonly prefills: number;
  readonly meanTokens: number;
};
export type Summary = { readonly count: number; readonly seconds: number };
export type FirstToken = {
  /** Replicas may be pooled only where this is the same. */
  readonly source: string;
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
};

export const NO_RATES: ReplicaRates = {
  computedTokensPerSecond: null,
  promptTokensPerSecond: null,
  outputTokensPerSecond: null,
  prefixCache: null,
  prefill: null,
  perFirstToken: null,
  interToken: null,
  decode: null,
  firstToken: null,
};

export const ratesOf = (history: History): ReplicaRates => {
  if (history.isShared) return NO_RATES;
  const over = <T>(measure: Measure<T>): T | null => overWindow(history.scrapes, measure);
  const summary = (quantity: Quantity): Summary | null =>
    over((earlier, later) => {
      const grown = growth(earlier.counters[quantity], later.counters[quantity]);
      return grown === null ? undefined : summaryOf(grown);
    });
  const perSecond = (quantity: Quantity): number | null =>
    over((earlier, later) => {
      const grown = growth(earlier.counters[quantity], later.counters[quantity]);
      const seconds = (later.atMs - earlier.atMs) / 1_000;
      if (grown === null) return undefined;
      return seconds > 0 ? (grown.values[0] ?? 0) / seconds : null;
    });
  return {
    computedTokensPerSecond: perSecond("computedTokens"),
    promptTokensPerSecond: perSecond("promptTokens"),
    outputTokensPerSecond: perSecond("outputTokens"),
    prefixCache: over(prefixCacheOver),
    prefill: over(prefillOver) ?? over(prefillBusyOver),
    perFirstToken: over(perFirstTokenOver),
    interToken: summary("interToken"),
    decode: summary("decode") ?? summaryOf(history.scrapes.at(-1)?.counters.decode[0] ?? null),
    firstToken: over(firstTokenOver),
  };
};

/** @returns null: nothing happened that could be averaged; undefined: the two scrapes have no source in common */
type Measure<T> = (earlier: Scrape, later: Scrape) => T | null | undefined;
type Quantity = Exclude<keyof Counters, "firstTokenBounds">;

/** Over the longest span that has an answer: a source may have appeared in the middle of the window. */
const overWindow = <T>(scrapes: readonly Scrape[], measure: Measure<T>): T | null => {
  const later = scrapes.at(-1);
  for (const earlier of scrapes) {
    if (later === undefined || earlier === later) return null;
    const measured = measure(earlier, later);
    if (measured !== undefined) return measured;
  }
  return null;
};

/** How much a quantity grew, by the best source that both scrapes have. @returns null where none has, or where it fell */
export const growth = (earlier: readonly Cumulative[], later: readonly Cumulative[]): Cumulative | null => {
  for (const { source, values } of later) {
    const before = earlier.find((other) => other.source === source && other.values.length === values.length);
    if (before === undefined) continue;
    const grown = values.map((value, at) => value - (before.values[at] ?? 0));
    return grown.every((value) => value >= 0) ? { source, values: grown } : null;
  }
  return null;
};

const prefixCacheOver: Measure<{ queries: number; hits: number }> = (earlier, later) => {
  const grown = growth(earlier.counters.prefixCache, later.counters.prefixCache);
  if (grown === null) return undefined;
  const [queries = 0, hits = 0, secondTierHits = 0] = grown.values;
  return { queries, hits: hits + secondTierHits };
};

const prefillOver: Measure<PrefillRate> = (earlier, later) => {
  const computed = growth(earlier.counters.computedTokens, later.counters.computedTokens)?.values[0];
  const prefill = growth(earlier.counters.prefill, later.counters.prefill);
  if (computed === undefined || prefill === null) return undefined;
  const [prefills = 0, seconds = 0] = prefill.values;
  if (!(computed > 0) || !(seconds > 0) || !(prefills > 0)) return null;
  const tokensPerSecond = computed / seconds;
  return Number.isFinite(tokensPerSecond) ? { tokensPerSecond, prefills, meanTokens: computed / prefills } : null;
};

/** Engines that count no prefills: as many tokens as tell something are taken for one. */
const prefillBusyOver: Measure<PrefillRate> = (earlier, later) => {
  const grown = growth(earlier.counters.prefillBusy, later.counters.prefillBusy);
  if (grown === null) return undefined;
  const [tokens = 0, seconds = 0] = grown.values;
  const tokensPerSecond = tokens / seconds;
  if (!(tokens > 0) || !(seconds > 0) || !Number.isFinite(tokensPerSecond)) return null;
  return { tokensPerSecond, prefills: tokens / TELLING_TOKENS, meanTokens: TELLING_TOKENS };
};

const perFirstTokenOver: Measure<{ computedTokens: number; firstTokens: number }> = (earlier, later) => {
  const computedTokens = growth(earlier.counters.computedTokens, later.counters.computedTokens)?.values[0];
  const firstTokens = growth(earlier.counters.firstToken, later.counters.firstToken)?.values.at(-1);
  return computedTokens === undefined || firstTokens === undefined ? undefined : { computedTokens, firstTokens };
};

const firstTokenOver: Measure<FirstToken> = (earlier, later) => {
  const grown = growth(earlier.counters.firstToken, later.counters.firstToken);
  if (grown === null) return undefined;
  return { source: grown.source, bounds: later.counters.firstTokenBounds, counts: grown.values };
};

/** @returns null where nothing was counted, of which there is no mean */
const summaryOf = (counted: Cumulative | null): Summary | null => {
  const [count = 0, seconds = 0] = counted?.values ?? [];
  return count > 0 ? { count, seconds } : null;
};
