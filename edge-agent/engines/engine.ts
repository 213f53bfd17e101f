/** What an inference engine says of itself, in one shape for all engines; a new engine is one file that makes this of its payloads. */
import type { Fault, Page } from "../exposition.ts";

/**
 * A quantity that only grows while the process lives, as one source counts it. Two scrapes may be subtracted only where
 * the source is the same: engines rename, and a histogram with other bounds is another source.
 */
export type Cumulative = { readonly source: string; readonly values: readonly number[] };

/** What rates are made of; each quantity by all sources that have it, best first, an empty list where there is none. */
export type Counters = {
  /** Prompt tokens that were computed: [tokens]. */
  readonly computedTokens: readonly Cumulative[];
  /** All prompt tokens, cached ones included: [tokens]. */
  readonly promptTokens: readonly Cumulative[];
  readonly outputTokens: readonly Cumulative[];
  /** [queries, hits, hits in a second tier]; tokens or blocks, as the source has it. */
  readonly prefixCache: readonly Cumulative[];
  /** Histograms as [count, sum in seconds]. */
  readonly prefill: readonly Cumulative[];
  readonly decode: readonly Cumulative[];
  readonly interToken: readonly Cumulative[];
  /** Time to first token as [count up to each bound]; `firstTokenBounds` are the bounds in seconds, the last infinite. */
  readonly firstToken: readonly Cumulative[];
  readonly firstTokenBounds: readonly number[];
};

/** When the process started, by one source; only the same source's word tells a restart. */
export type StartedAt = { readonly source: string; readonly atMs: number };

/** One engine behind one address; null: not known, which is never 0. */
export type ReplicaReading = {
  /** The `engine` label; "0" where the page has none. */
  readonly engine: string;
  readonly startedAt: StartedAt | null;
  readonly isAsleep: boolean | null;
  readonly requestsRunning: number | null;
  readonly requestsWaiting: number | null;
  /** Tokens in the queue that no cache holds. */
  readonly uncachedTokensWaiting: number | null;
  /** 0 to 1, active use, not residency. */
  readonly kvCacheUsedFraction: number | null;
  /** As the engine itself averages it; only where it has no counters. */
  readonly prefixHitFraction: number | null;
  readonly counters: Counters;
};

export type ModelReading = {
  readonly model: string;
  readonly aliases: readonly string[];
  readonly adapters: readonly string[];
  /** Longest prompt and output together, in tokens. */
  readonly contextLimitTokens: number | null;
  /** Over all replicas behind this address. */
  readonly kvCapacityTokens: number | null;
  readonly replicas: readonly ReplicaReading[];
};

export type EngineReading = {
  readonly engine: string;
  readonly models: readonly ModelReading[];
  /** Why fields are null. */
  readonly faults: readonly Fault[];
};

/** What was got from one address. */
export type EnginePayloads = {
  /** null: it could not be had this time, which is unknown and no broken contract. */
  readonly page: Page | null;
  /** `/v1/models` as JSON; null: it could not be had. */
  readonly models: unknown;
};

export type Engine = {
  readonly name: string;
  /** By the names of the samples on a page. */
  readonly recognises: (names: readonly string[]) => boolean;
  /** What its model list says under `owned_by`. */
  readonly owner: string;
  /** Never throws, whatever the payloads hold. */
  readonly read: (payloads: EnginePayloads) => EngineReading;
};

export const NO_COUNTERS: Counters = {
  computedTokens: [],
  promptTokens: [],
  outputTokens: [],
  prefixCache: [],
  prefill: [],
  decode: [],
  interToken: [],
  firstToken: [],
  firstTokenBounds: [],
};
