/** What a region's agents would report of its simulated engines, each second. */
import type { GpuHeard, HeardReport, ModelHeard, ReplicaHeard } from "#gtm/domain/heard-report.ts";
import type { PlacementState } from "#gtm/domain/placement.ts";
import { rateOf } from "#gtm/domain/prefill-speeds.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import { AgentId, ModelId, ReplicaId } from "#shared/ids.ts";
import type { PlayedRegion } from "./play-region.ts";
import type { Eyes } from "./scenario.ts";
import { type EngineOptions, totalBlocksOf } from "./serving/engine-options.ts";
import type { ReplicaState } from "./serving/replica.ts";
import type { ServingRegion } from "./serving/serving-region.ts";

export const SIMULATED = ModelId.parse("simulated");

type ReporterOptions = {
  readonly site: RegionSite;
  /** Without a phase it is up since the beginning. */
  readonly region: ServingRegion & Partial<Pick<PlayedRegion, "phase" | "startedAtMs">>;
  readonly engine: EngineOptions;
  readonly model: ModelId;
  readonly eyes: Eyes;
};

/** Rates are taken over this time. */
const WINDOW_MS = 60_000;

/** What of a moment is needed a minute later: sums over the replicas, and what each has served. */
type Look = {
  readonly atMs: number;
  readonly queriedTokens: number;
  readonly hitTokens: number;
  readonly newTokens: number;
  readonly gaps: number;
  readonly gapsMs: number;
  /** One a replica; none where nobody asks. */
  readonly served: readonly Served[];
};
type Served = { readonly requests: number; readonly computedTokens: number };

export const replicaId = (site: RegionSite, replica: number): ReplicaId =>
  ReplicaId.parse(`${site.id}.example.org:8000/${replica}`);

/** @returns makes the report of a moment; moments come in order */
export const createReporter = (options: ReporterOptions): ((nowMs: number) => HeardReport) => {
  const { site, region } = options;
  const agent = AgentId.parse("simulated");
  const ids = region.replicas.map((_, index) => replicaId(site, index));
  const looks = createLooks();
  // Gateways know backlogs; who guesses them from metrics needs what each replica has served.
  const look = options.eyes === "agent" ? lookAtEach : lookAtAll;
  let since = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    const startedAtMs = region.startedAtMs?.() ?? 0;
    // Engines that began anew count anew.
    if (startedAtMs !== since) looks.forget();
    since = startedAtMs;
    const states = region.replicas.map((replica) => replica.state());
    const now = look(states, nowMs);
    const models = [modelHeard(options, ids, { states, look: now, before: looks.add(now) })];
    const report = { region: site.id, agent, reportedAtMs: nowMs, gpus: gpusOf(options), models };
    return { report, heardAtMs: nowMs, ageWhenHeardMs: 0 };
  };
};

/** Those of the last minute. */
const createLooks = () => {
  let looks: Look[] = [];
  let first = 0;
  return {
    forget: (): void => {
      looks = [];
      first = 0;
    },
    /** @returns the oldest that counts */
    add: (look: Look): Look => {
      looks.push(look);
      while ((looks[first]?.atMs ?? look.atMs) < look.atMs - WINDOW_MS) first += 1;
      if (first > MOST_OLD_LOOKS) {
        looks = looks.slice(first);
        first = 0;
      }
      return looks[first] ?? look;
    },
  };
};

const MOST_OLD_LOOKS = 256;

const NOBODY: readonly Served[] = [];

const lookAtAll = (states: readonly ReplicaState[], atMs: number): Look => {
  let [queriedTokens, hitTokens, newTokens, gaps, gapsMs] = [0, 0, 0, 0, 0];
  for (const { counters, decoded } of states) {
    queriedTokens += counters.prefixQueryTokens;
    hitTokens += counters.prefixHitTokens;
    newTokens += counters.computedTokens + decoded.outputTokens;
    gaps += decoded.gaps;
    gapsMs += decoded.gapsMs;
  }
  return { atMs, queriedTokens, hitTokens, newTokens, gaps, gapsMs, served: NOBODY };
};

const lookAtEach = (states: readonly ReplicaState[], atMs: number): Look => ({
  ...lookAtAll(states, atMs),
  served: states.map(({ counters }) => ({
    requests: counters.firstTokens,
    computedTokens: counters.computedTokens,
  })),
});

/** Of a model that is not loaded: what it needs, and that there is room. Llama-3-70B at fp16, on eight GPUs of 80 GB. */
const COLD_WEIGHT_BYTES = 141_000_000_000;
const HOST_GPU_BYTES = 640_000_000_000;

const gpusOf = ({ region, site }: ReporterOptions): readonly GpuHeard[] =>
  region.phase?.() === "cold"
    ? [{ uuid: `${site.id}/0`, memoryTotalBytes: HOST_GPU_BYTES, memoryFreeBytes: HOST_GPU_BYTES }]
    : [];

const stateOf = (region: ReporterOptions["region"]): PlacementState => {
  const phase = region.phase?.() ?? "up";
  return phase === "cold" ? "on-disk" : phase === "loading" ? "loading" : phase === "down" ? "down" : "loaded";
};

type Seen = { readonly states: readonly ReplicaState[]; readonly look: Look; readonly before: Look };

const modelHeard = (options: ReporterOptions, ids: readonly ReplicaId[], seen: Seen): ModelHeard => {
  const { engine, region, model } = options;
  const { states, look, before } = seen;
  const seconds = (look.atMs - before.atMs) / 1_000;
  const queriedTokens = look.queriedTokens - before.queriedTokens;
  const gaps = look.gaps - before.gaps;
  let [used, running, waiting] = [0, 0, 0];
  for (const state of states) {
    used += state.kvUsedFraction;
    running += state.running;
    waiting += state.waiting;
  }
  const isCold = region.phase?.() === "cold";
  return {
    model,
    aliases: [],
    adapters: [],
    state: stateOf(region),
    contextLimitTokens: null,
    replicas: ids.map((id, index) => replicaHeard(options, id, index, seen)),
    kvCapacityTokens: totalBlocksOf(engine) * engine.blockTokens * region.replicas.length,
    kvCacheUsedFraction: used / region.replicas.length,
    requestsRunning: running,
    requestsWaiting: waiting,
    prefillTokensPerSecond: rateOf(engine.speed),
    // As where the rate is configured.
    prefillConfidence: 1,
    itlMs: gaps === 0 ? null : (look.gapsMs - before.gapsMs) / gaps,
    prefixHitFraction: queriedTokens === 0 ? null : (look.hitTokens - before.hitTokens) / queriedTokens,
    newTokensPerSecond: seconds === 0 ? null : (look.newTokens - before.newTokens) / seconds,
    ttftP50Ms: null,
    coldStartMs: engine.coldStartMs === 0 ? null : engine.coldStartMs,
    weightBytes: isCold ? COLD_WEIGHT_BYTES : null,
  };
};

const replicaHeard = (
  { region, engine, eyes }: ReporterOptions,
  id: ReplicaId,
  index: number,
  seen: Seen,
): ReplicaHeard => {
  const kvCapacityTokens = totalBlocksOf(engine) * engine.blockTokens;
  return {
    id,
    startedAtMs: region.startedAtMs?.() ?? null,
    backlogMs: eyes === "gateway" ? (region.replicas[index]?.backlogMs() ?? 0) : metricsBacklogMs(engine, index, seen),
    prefillLinMs: engine.speed.linMs,
    prefillAttnMs: engine.speed.attnMs,
    kvCapacityTokens,
    kvPinnedTokens: (seen.states[index]?.kvUsedFraction ?? 0) * kvCapacityTokens,
  };
};

/** Requests waiting × what a request lately had to compute ÷ the rate; null where none was served lately. */
const metricsBacklogMs = (engine: EngineOptions, index: number, { states, look, before }: Seen): number | null => {
  const waiting = states[index]?.waiting ?? 0;
  if (waiting === 0) return 0;
  const [now, then] = [look.served[index], before.served[index]];
  const requests = (now?.requests ?? 0) - (then?.requests ?? 0);
  if (requests === 0) return null;
  const tokensEach = ((now?.computedTokens ?? 0) - (then?.computedTokens ?? 0)) / requests;
  return (1_000 * waiting * tokensEach) / rateOf(engine.speed);
};
