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

type Look = { readonly atMs: number; readonly states: readonly ReplicaState[] };

export const replicaId = (site: RegionSite, replica: number): ReplicaId =>
  ReplicaId.parse(`${site.id}.example.org:8000/${replica}`);

/** @returns makes the report of a moment; moments come in order */
export const createReporter = (options: ReporterOptions): ((nowMs: number) => HeardReport) => {
  const agent = AgentId.parse("simulated");
  let looks: Look[] = [];
  let since = Number.NEGATIVE_INFINITY;
  return (nowMs) => {
    const startedAtMs = options.region.startedAtMs?.() ?? 0;
    // Engines that began anew count anew.
    if (startedAtMs !== since) looks = [];
    since = startedAtMs;
    const look = { atMs: nowMs, states: options.region.replicas.map((replica) => replica.state()) };
    looks = [...looks.filter(({ atMs }) => atMs >= nowMs - WINDOW_MS), look];
    const models = [modelHeard(options, look, looks[0] ?? look)];
    const report = { region: options.site.id, agent, reportedAtMs: nowMs, gpus: gpusOf(options), models };
    return { report, heardAtMs: nowMs, ageWhenHeardMs: 0 };
  };
};

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

const modelHeard = (options: ReporterOptions, now: Look, before: Look): ModelHeard => {
  const { engine, region } = options;
  const sum = (pick: (state: ReplicaState) => number, { states }: Look = now) =>
    states.reduce((total, state) => total + pick(state), 0);
  const over = (pick: (state: ReplicaState) => number) => sum(pick) - sum(pick, before);
  const seconds = (now.atMs - before.atMs) / 1_000;
  const perSecond = (amount: number) => (seconds === 0 ? null : amount / seconds);
  const queried = over(({ counters }) => counters.prefixQueryTokens);
  const gaps = over(({ decoded }) => decoded.gaps);
  return {
    model: options.model,
    aliases: [],
    adapters: [],
    state: stateOf(region),
    contextLimitTokens: null,
    replicas: now.states.map((state, index) => replicaHeard(options, index, state, before.states[index] ?? state)),
    kvCapacityTokens: totalBlocksOf(engine) * engine.blockTokens * region.replicas.length,
    kvCacheUsedFraction: sum(({ kvUsedFraction }) => kvUsedFraction) / region.replicas.length,
    requestsRunning: sum(({ running }) => running),
    requestsWaiting: sum(({ waiting }) => waiting),
    prefillTokensPerSecond: rateOf(engine.speed),
    // As where the rate is configured.
    prefillConfidence: 1,
    itlMs: gaps === 0 ? null : over(({ decoded }) => decoded.gapsMs) / gaps,
    prefixHitFraction: queried === 0 ? null : over(({ counters }) => counters.prefixHitTokens) / queried,
    newTokensPerSecond: perSecond(over(({ counters, decoded }) => counters.computedTokens + decoded.outputTokens)),
    ttftP50Ms: null,
    coldStartMs: engine.coldStartMs === 0 ? null : engine.coldStartMs,
    weightBytes: region.phase?.() === "cold" ? COLD_WEIGHT_BYTES : null,
  };
};

const replicaHeard = (
  { site, region, engine, eyes }: ReporterOptions,
  index: number,
  now: ReplicaState,
  before: ReplicaState,
): ReplicaHeard => {
  const kvCapacityTokens = totalBlocksOf(engine) * engine.blockTokens;
  return {
    id: replicaId(site, index),
    startedAtMs: region.startedAtMs?.() ?? null,
    backlogMs: eyes === "gateway" ? (region.replicas[index]?.backlogMs() ?? 0) : metricsBacklogMs(engine, now, before),
    prefillLinMs: engine.speed.linMs,
    prefillAttnMs: engine.speed.attnMs,
    kvCapacityTokens,
    kvPinnedTokens: now.kvUsedFraction * kvCapacityTokens,
  };
};

/** Requests waiting × what a request lately had to compute ÷ the rate; null where none was served lately. */
const metricsBacklogMs = (engine: EngineOptions, now: ReplicaState, before: ReplicaState): number | null => {
  if (now.waiting === 0) return 0;
  const served = now.counters.firstTokens - before.counters.firstTokens;
  if (served === 0) return null;
  const tokensEach = (now.counters.computedTokens - before.counters.computedTokens) / served;
  return (1_000 * now.waiting * tokensEach) / rateOf(engine.speed);
};
