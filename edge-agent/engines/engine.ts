/** What an inference engine says of itself, in one shape for all engines; a new engine is one file that makes this of its payloads. */
import type { PlacementState } from "#shared/report.ts";
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
  /** [computed tokens, seconds that computing them took], counted at the same moments; for engines that count no prefills. */
  readonly prefillBusy: readonly Cumulative[];
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
  /** 0 to 1, with what finished requests left behind and may be evicted; only SGLang and llama.cpp say it. */
  readonly kvResidentFraction: number | null;
  /** As the engine itself averages it; only where it has no counters. */
  readonly prefixHitFraction: number | null;
  readonly counters: Counters;
};

export type ModelReading = {
  readonly model: string;
  readonly aliases: readonly string[];
  readonly adapters: readonly string[];
  /** As the engine says it; null: it says nothing, and who answers serves. */
  readonly state: PlacementState | null;
  /** Longest prompt and output together, in tokens. */
  readonly contextLimitTokens: number | null;
  /** As the engine says it. */
  readonly weightBytes: number | null;
  /** Of GPU memory that it takes, weights and cache, as the engine says it. */
  readonly gpuMemoryBytes: number | null;
  /** Over all replicas behind this address. */
  readonly kvCapacityTokens: number | null;
  readonly replicas: readonly ReplicaReading[];
};

/** Which name on which page a field was read from, as the reading found it. */
export type FieldSource = { readonly field: string; readonly source: string };

export type EngineReading = {
  readonly engine: string;
  /** Whether what changes from second to second was had; where not, every measured value is unknown. */
  readonly isMeasured: boolean;
  readonly models: readonly ModelReading[];
  readonly sources: readonly FieldSource[];
  /** Why fields are null. */
  readonly faults: readonly Fault[];
};

/** What one path answered. */
export type Further =
  | { readonly kind: "json"; readonly json: unknown }
  | { readonly kind: "page"; readonly page: Page }
  /** `http-404`, `timed-out`, `not-json`, … */
  | { readonly kind: "unknown"; readonly code: string };

/** What was got from one address. */
export type EnginePayloads = {
  /** Of the first of the engine's `metricsPaths` that has one; null: it could not be had this time, which is unknown and no broken contract. */
  readonly page: Page | null;
  /** `/v1/models` as JSON; null: it could not be had. */
  readonly models: unknown;
  /** Every path that was asked beside the model list, with its query, the metrics pages among them. */
  readonly further: ReadonlyMap<string, Further>;
};

export const NOTHING_FURTHER: EnginePayloads["further"] = new Map();

export type Engine = {
  readonly name: string;
  /** What is looked for on its page; what an alias in the configuration may stand for. Empty where there is no list. */
  readonly names: FieldNames;
  /** By the names of the samples on a page. */
  readonly recognises: (names: readonly string[]) => boolean;
  /** Whether it answers `/v1/models` at the same address. */
  readonly hasModelList: boolean;
  /** What its model list says under `owned_by`; null: nothing that tells. */
  readonly owner: string | null;
  /** Paths that are asked of a stranger to find out whether it is this engine; they do no harm to others. */
  readonly tellingPaths: readonly string[];
  /** By what those answered. */
  readonly tells: (further: EnginePayloads["further"]) => boolean;
  /** Whether its API key is asked for everywhere but at health, on the metrics page, too. */
  readonly guardsAll: boolean;
  /** Where its metrics page may be, best first; empty: it has none. */
  readonly metricsPaths: readonly string[];
  /** Asked together with `/v1/models` and health. */
  readonly firstPaths: readonly string[];
  /**
   * What the answers so far lead to, pages left unread; asked again until it names nothing new, three times at most.
   *
   * @param onAPage whether a text stands on a page that was got
   */
  readonly nextPaths: (payloads: EnginePayloads, onAPage: (text: string) => boolean) => readonly string[];
  /** Of those, what most servers have not: where it answered 404 it is asked again only after the server was away. */
  readonly optionalPaths: readonly string[];
  /** 200: it can serve; null: it has none. */
  readonly healthPath: string | null;
  /** What its health's 503 means. */
  readonly unavailableMeans: "down" | "loading";
  /** Never throws, whatever the payloads hold. */
  readonly read: (payloads: EnginePayloads) => EngineReading;
};

/** Of an engine that is recognised by its page or model list, and has everything on one page. */
export const ONE_PAGE = {
  names: {},
  hasModelList: true,
  tellingPaths: [],
  tells: () => false,
  guardsAll: false,
  metricsPaths: ["/metrics"],
  firstPaths: ["/metrics"],
  nextPaths: () => [],
  optionalPaths: [],
  healthPath: "/health",
  unavailableMeans: "down",
} as const satisfies Partial<Engine>;

/** Sample names as they stand on pages, newest first, by the field that is read from them. */
export type FieldNames = Readonly<Record<string, readonly string[]>>;

export const NO_COUNTERS: Counters = {
  computedTokens: [],
  promptTokens: [],
  outputTokens: [],
  prefixCache: [],
  prefill: [],
  prefillBusy: [],
  decode: [],
  interToken: [],
  firstToken: [],
  firstTokenBounds: [],
};

/** A replica of which nothing is known but that it is there; spread it, so that new fields begin as unknown. */
export const UNMEASURED: ReplicaReading = {
  engine: "0",
  startedAt: null,
  isAsleep: null,
  requestsRunning: null,
  requestsWaiting: null,
  uncachedTokensWaiting: null,
  kvCacheUsedFraction: null,
  kvResidentFraction: null,
  prefixHitFraction: null,
  counters: NO_COUNTERS,
};
