/** One model of the region as the report has it: all its replicas behind all scraped addresses together. */
import type { ModelId } from "#shared/ids.ts";
import type { ModelReport } from "#shared/report.ts";
import type { Endpoint, KnownModel } from "./endpoint.ts";
import { UNMEASURED } from "./engines/engine.ts";
import type { Fault } from "./exposition.ts";
import { quantile } from "./quantile.ts";
import { NO_RATES } from "./rates.ts";
import { type ModelSettings, type PlacedReplica, placedReplicas, replicaReport } from "./replica-report.ts";
import { meanSpeed } from "./speed.ts";

export type ModelPlace = { readonly endpoint: Endpoint; readonly model: KnownModel };

/** @param places where the model is; at least one */
export const modelReport = (
  model: string,
  places: readonly ModelPlace[],
  settings: ModelSettings,
): { report: ModelReport; faults: readonly Fault[] } => {
  const live = places.filter(({ endpoint }) => !endpoint.isDown).map(withAReplica);
  const placed = placedReplicas(serving(live), settings);
  const replicas = placed.map(({ replica }) => replica);
  const firstToken = firstTokenQuantiles(placed);
  const speed = meanSpeed(placed.map((one) => one.speed));
  const report: ModelReport = {
    model: model as ModelId,
    aliases: sortedUnion(places.map(({ model: { aliases } }) => aliases)),
    adapters: sortedUnion(places.map(({ model: { adapters } }) => adapters)),
    state: stateOf(live, placed),
    // Whoever may get the turn must have room for it.
    contextLimitTokens: least((live.length > 0 ? live : places).map(({ model }) => model.contextLimitTokens)),
    replicas: placed.map((one) => replicaReport(one, placed)),
    kvCapacityTokens: total(placed.map(({ kvCapacityTokens }) => kvCapacityTokens)),
    kvCacheUsedFraction: usedFraction(placed),
    requestsRunning: total(replicas.map(({ requestsRunning }) => requestsRunning)),
    requestsWaiting: total(replicas.map(({ requestsWaiting }) => requestsWaiting)),
    uncachedTokensWaiting: total(replicas.map(({ uncachedTokensWaiting }) => uncachedTokensWaiting)),
    prefillTokensPerSecond: speed?.tokensPerSecond ?? null,
    prefillConfidence: speed?.confidence ?? null,
    prefillSource: speed === null ? null : speedSource(placed, settings),
    itlMs: meanGapMs(placed),
    prefixHitFraction: hitFraction(placed),
    newTokensPerSecond: total(
      replicas.map(({ rates }) => total([rates.computedTokensPerSecond, rates.outputTokensPerSecond])),
    ),
    ttftP50Ms: firstToken.p50Ms,
    ttftP95Ms: firstToken.p95Ms,
    // The slowest: who is asked to load there may get that one.
    coldStartMs: most(places.map(({ endpoint }) => endpoint.loads.get(model)?.tookMs ?? null)) ?? settings.coldStartMs,
    weightBytes: settings.weightBytes ?? least(places.map(({ model: { weightBytes } }) => weightBytes)),
  };
  return { report, faults: [...firstToken.faults, ...hitFaults(placed)] };
};

/** A server that sleeps beside one that serves gets nothing to do, and holds nothing; where all sleep they are what there is. */
const serving = (live: readonly ModelPlace[]): readonly ModelPlace[] => {
  const awake = live.filter(({ model: { replicas } }) => !replicas.every(({ isAsleep }) => isAsleep === true));
  return awake.length > 0 ? awake : live;
};

/** A model that is served has somebody who serves it, even where no page says who. */
export const withAReplica = (place: ModelPlace): ModelPlace => {
  if (place.model.replicas.length > 0 || place.model.state === "on-disk") return place;
  const unknown = {
    ...UNMEASURED,
    history: null,
    rates: NO_RATES,
    measuredSpeed: null,
    trustedSpeed: null,
    asleepAtMs: null,
  };
  return { ...place, model: { ...place.model, replicas: [unknown] } };
};

const stateOf = (live: readonly ModelPlace[], placed: readonly PlacedReplica[]): ModelReport["state"] => {
  if (live.length === 0) return "down";
  const states = live.map(({ endpoint, model }) => (endpoint.isLoading ? "loading" : model.state));
  const isAwake = placed.some(({ replica }) => replica.isAsleep !== true);
  // One place that serves is enough.
  if (states.some((state) => state === "loaded" || (state === null && isAwake))) return "loaded";
  for (const state of ["loading", "asleep", "on-disk"] as const) if (states.includes(state)) return state;
  return placed.every(({ replica }) => replica.isAsleep === true) ? "asleep" : "down";
};

/** @returns null where one of them is not known, or there is none: a part is not the whole */
const total = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 || known.length < values.length ? null : known.reduce((sum, value) => sum + value, 0);
};

const least = (values: readonly (number | null)[]): number | null =>
  values.reduce((low, value) => (value !== null && (low === null || value < low) ? value : low), null);

const most = (values: readonly (number | null)[]): number | null =>
  values.reduce((high, value) => (value !== null && (high === null || value > high) ? value : high), null);

const sortedUnion = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();

/** One replica that has measured enough tells for all: of the others the operator's word stands in, where there is one. */
const speedSource = (placed: readonly PlacedReplica[], settings: ModelSettings): "measured" | "configured" => {
  const isMeasured = placed.some(({ replica }) => replica.trustedSpeed !== null);
  return isMeasured || settings.prefillTokensPerSecond === null ? "measured" : "configured";
};

/** Weighted by what each replica holds; evenly where that is not known. */
const usedFraction = (placed: readonly PlacedReplica[]): number | null => {
  const used = total(placed.map(({ replica }) => replica.kvCacheUsedFraction));
  if (used === null) return null;
  const pinned = total(
    placed.map(({ replica, kvCapacityTokens }) =>
      kvCapacityTokens === null ? null : (replica.kvCacheUsedFraction ?? 0) * kvCapacityTokens,
    ),
  );
  const capacity = total(placed.map(({ kvCapacityTokens }) => kvCapacityTokens));
  return Math.min(1, pinned === null || !capacity ? used / placed.length : pinned / capacity);
};

/** Above this hits over queries are no share with a rounding error: the two count something else. */
const LARGEST_FRACTION = 1.5;

/** Hits over queries of all replicas; V0 engines say only their own average. */
const hitFraction = (placed: readonly PlacedReplica[]): number | null => {
  const queries = total(placed.map(({ replica }) => replica.rates.prefixCache?.queries ?? null));
  const hits = total(placed.map(({ replica }) => replica.rates.prefixCache?.hits ?? null));
  if (queries !== null && hits !== null) return shareOf(hits, queries);
  const averaged = total(placed.map(({ replica }) => replica.prefixHitFraction));
  return averaged === null ? null : averaged / placed.length;
};

const shareOf = (hits: number, queries: number): number | null =>
  queries > 0 && hits / queries <= LARGEST_FRACTION ? Math.min(1, hits / queries) : null;

const hitFaults = (placed: readonly PlacedReplica[]): readonly Fault[] => {
  const isOut = placed.some(
    ({ replica: { rates } }) =>
      rates.prefixCache !== null && rates.prefixCache.hits > LARGEST_FRACTION * rates.prefixCache.queries,
  );
  return isOut ? [{ field: "prefixHitFraction", code: "out-of-range" }] : [];
};

const meanGapMs = (placed: readonly PlacedReplica[]): number | null => {
  const known = placed.map(({ replica }) => replica.rates.interToken).filter((summary) => summary !== null);
  const count = known.reduce((sum, summary) => sum + summary.count, 0);
  return count > 0 ? (1_000 * known.reduce((sum, { seconds }) => sum + seconds, 0)) / count : null;
};

type Quantiles = { readonly p50Ms: number | null; readonly p95Ms: number | null; readonly faults: readonly Fault[] };
const NO_QUANTILES: Quantiles = { p50Ms: null, p95Ms: null, faults: [] };

const firstTokenQuantiles = (placed: readonly PlacedReplica[]): Quantiles => {
  const all = placed.map(({ replica }) => replica.rates.firstToken);
  const known = all.filter((histogram) => histogram !== null);
  const [first] = known;
  if (first === undefined || known.length < all.length) return NO_QUANTILES;
  if (known.some(({ source }) => source !== first.source)) {
    return { ...NO_QUANTILES, faults: [{ field: "ttftP50Ms", code: "buckets-differ" }] };
  }
  const counts = first.counts.map((_, at) => known.reduce((sum, histogram) => sum + (histogram.counts[at] ?? 0), 0));
  const p50 = quantile(0.5, first.bounds, counts);
  const p95 = quantile(0.95, first.bounds, counts);
  const capped = [
    ...(p50?.isCapped ? [{ field: "ttftP50Ms", code: "capped" }] : []),
    ...(p95?.isCapped ? [{ field: "ttftP95Ms", code: "capped" }] : []),
  ];
  return {
    p50Ms: p50 === null ? null : p50.value * 1_000,
    p95Ms: p95 === null ? null : p95.value * 1_000,
    faults: capped,
  };
};
