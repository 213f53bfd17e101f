/** An EngineReading as `edge-agent read` shows it: what the engine says now, and what it did between two payloads. */
import type { CacheTierReport, ModelReport } from "#shared/report.ts";
import { tierReport } from "../cache-tiers.ts";
import type { Endpoint, KnownModel } from "../endpoint.ts";
import type { FieldSource } from "../engines/engine.ts";
import type { Fault } from "../exposition.ts";
import { modelReport } from "../model-report.ts";
import type { ReplicaRates } from "../rates.ts";

type Kept =
  | "model"
  | "aliases"
  | "adapters"
  | "state"
  | "contextLimitTokens"
  | "kvCapacityTokens"
  | "kvCacheUsedFraction"
  | "requestsRunning"
  | "requestsWaiting"
  | "uncachedTokensWaiting"
  | "prefillTokensPerSecond"
  | "prefillConfidence"
  | "itlMs"
  | "prefixHitFraction"
  | "ttftP50Ms"
  | "ttftP95Ms"
  | "weightBytes";

export type ModelView = Pick<ModelReport, Kept> & {
  /** Of the fullest replica: a group preempts there. */
  readonly kvCacheUsedFractionMost: number | null;
  /** With what may be evicted, over all replicas alike; only some engines say it. */
  readonly kvResidentFraction: number | null;
  /** As the engine says it. */
  readonly gpuMemoryBytes: number | null;
  /** Over the life of the process; what one payload alone can say. */
  readonly prefixHitFractionSinceStart: number | null;
  /** Speeds over the life of the process: prompt tokens per second of prefill, output tokens per second of one response. */
  readonly prefillTokensPerSecondSinceStart: number | null;
  readonly decodeTokensPerSecondSinceStart: number | null;
  /** Throughputs, over all replicas; idle time counts. */
  readonly prefillComputedTokensPerSecond: number | null;
  readonly promptTokensPerSecond: number | null;
  readonly decodeTokensPerSecond: number | null;
  readonly ttftCount: number | null;
  readonly replicas: readonly ReplicaView[];
};
export type ReplicaView = {
  readonly engine: string;
  readonly startedAtMs: number | null;
  /** Whether a restart lies between the two payloads. */
  readonly isRestarted: boolean;
  readonly requestsRunning: number | null;
  readonly requestsWaiting: number | null;
  readonly kvCacheUsedFraction: number | null;
  readonly kvCapacityTokens: number | null;
  readonly backlogMs: number | null;
};

/** `source` is the name that it was read from. */
export type CacheTierView = CacheTierReport & { readonly model: string };

export type ReadingView = {
  readonly engine: string;
  /** Between the two payloads; null: there is one. */
  readonly windowSeconds: number | null;
  readonly models: readonly ModelView[];
  /** Second tiers of the prefix cache whose counters are on the page; the engine may count the same hits. */
  readonly cacheTiers: readonly CacheTierView[];
  /** Under which name each field was found. */
  readonly sources: readonly FieldSource[];
  readonly faults: readonly Fault[];
};

const NO_SETTINGS = { weightBytes: null, coldStartMs: null, prefillTokensPerSecond: null, kvCapacityTokens: null };

/** @param earlier the same address at the first of two payloads; null: there is one */
export const readingView = (
  endpoint: Endpoint,
  earlier: Endpoint | null,
  windowSeconds: number | null,
): ReadingView => {
  const views = endpoint.models.map((model) => modelView(endpoint, earlier, model));
  return {
    engine: endpoint.engine ?? "unrecognised",
    windowSeconds,
    models: views.map(({ view }) => view),
    sources: endpoint.sources,
    cacheTiers: endpoint.cacheTiers.map((tier) => ({
      ...tierReport(tier.readFrom, tier),
      model: tier.model,
    })),
    faults: [...endpoint.faults, ...views.flatMap(({ faults }) => faults)],
  };
};

const modelView = (endpoint: Endpoint, earlier: Endpoint | null, model: KnownModel) => {
  const { report, faults } = modelReport(model.model, [{ endpoint, model }], NO_SETTINGS);
  const { replicas: reported, coldStartMs: _, newTokensPerSecond: __, ...rest } = report;
  const before = earlier?.models.find((one) => one.model === model.model) ?? null;
  const view: ModelView = {
    ...rest,
    kvCacheUsedFractionMost: most(model.replicas.map(({ kvCacheUsedFraction }) => kvCacheUsedFraction)),
    kvResidentFraction: mean(model.replicas.map(({ kvResidentFraction }) => kvResidentFraction)),
    gpuMemoryBytes: model.gpuMemoryBytes,
    prefixHitFractionSinceStart: hitsSinceStart(model),
    prefillTokensPerSecondSinceStart: prefillSinceStart(model),
    decodeTokensPerSecondSinceStart: ratio(
      model.replicas.map(({ counters }) => counters.interToken[0]?.values ?? null),
    ),
    prefillComputedTokensPerSecond: sumOf(model, (rates) => rates.computedTokensPerSecond),
    promptTokensPerSecond: sumOf(model, (rates) => rates.promptTokensPerSecond),
    decodeTokensPerSecond: sumOf(model, (rates) => rates.outputTokensPerSecond),
    ttftCount: sumOf(model, (rates) => rates.firstToken?.counts.at(-1) ?? null),
    replicas: model.replicas.map((replica, at) => ({
      engine: replica.engine,
      startedAtMs: replica.startedAt?.atMs ?? null,
      isRestarted: isRestarted(replica, before),
      requestsRunning: replica.requestsRunning,
      requestsWaiting: replica.requestsWaiting,
      kvCacheUsedFraction: replica.kvCacheUsedFraction,
      kvCapacityTokens: reported[at]?.kvCapacityTokens ?? null,
      backlogMs: reported[at]?.backlogMs ?? null,
    })),
  };
  return { view, faults };
};

/** A restart begins the history anew, with zeros in place of the earlier payload. */
const isRestarted = (replica: KnownModel["replicas"][number], before: KnownModel | null): boolean => {
  const first = before?.replicas.find(({ engine }) => engine === replica.engine)?.history?.scrapes[0];
  return first !== undefined && !replica.history?.scrapes.includes(first);
};

const sumOf = (model: KnownModel, read: (rates: ReplicaRates) => number | null): number | null => {
  const values = model.replicas.map(({ rates }) => read(rates));
  const known = values.filter((value) => value !== null);
  return known.length === 0 || known.length < values.length ? null : known.reduce((sum, value) => sum + value, 0);
};

const most = (values: readonly (number | null)[]): number | null =>
  values.reduce((high, value) => (value !== null && (high === null || value > high) ? value : high), null);

const mean = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 || known.length < values.length
    ? null
    : known.reduce((sum, value) => sum + value, 0) / known.length;
};

/** Of [count, seconds] of all replicas. @returns null where one has none, or no time passed */
const ratio = (all: readonly (readonly number[] | null)[]): number | null => {
  const known = all.filter((values) => values !== null);
  const count = known.reduce((sum, [value = 0]) => sum + value, 0);
  const seconds = known.reduce((sum, [, value = 0]) => sum + value, 0);
  return known.length === all.length && seconds > 0 && count > 0 ? count / seconds : null;
};

/** Engines that count prefills have their time beside the computed tokens; the others count both together. */
const prefillSinceStart = ({ replicas }: KnownModel): number | null =>
  ratio(
    replicas.map(({ counters: { prefill, prefillBusy, computedTokens } }) => {
      const tokens = computedTokens[0]?.values[0];
      const seconds = prefill[0]?.values[1];
      return tokens === undefined || seconds === undefined ? (prefillBusy[0]?.values ?? null) : [tokens, seconds];
    }),
  );

const hitsSinceStart = ({ replicas }: KnownModel): number | null => {
  const counted = replicas.map(({ counters }) => counters.prefixCache[0]?.values ?? null);
  const known = counted.filter((values) => values !== null);
  const queries = known.reduce((sum, [value = 0]) => sum + value, 0);
  const hits = known.reduce((sum, [, value = 0, secondTier = 0]) => sum + value + secondTier, 0);
  return known.length === counted.length && queries > 0 ? hits / queries : null;
};
