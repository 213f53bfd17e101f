/** What a region's agents would report of its simulated engines, each second. */
import type { HeardReport, ModelHeard, ReplicaHeard } from "#gtm/domain/heard-report.ts";
import { rateOf } from "#gtm/domain/prefill-speeds.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import { AgentId, type ModelId, ReplicaId } from "#shared/ids.ts";
import { BLOCK_TOKENS } from "./serving/block-hash.ts";
import { type EngineOptions, totalBlocksOf } from "./serving/engine-options.ts";
import type { ReplicaState } from "./serving/replica.ts";
import type { ServingRegion } from "./serving/serving-region.ts";

/**
 * Who looks: an `agent` reads an engine's metrics, which do not say how long the queue is in tokens, nor what is left of
 * the running prefill; a `gateway` forwards every request itself and knows both.
 */
export type Eyes = "agent" | "gateway";

type ReporterOptions = {
  readonly site: RegionSite;
  readonly region: ServingRegion;
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
  return (nowMs) => {
    const look = { atMs: nowMs, states: options.region.replicas.map((replica) => replica.state()) };
    looks = [...looks.filter(({ atMs }) => atMs >= nowMs - WINDOW_MS), look];
    const models = [modelHeard(options, look, looks[0] ?? look)];
    const report = { region: options.site.id, agent, reportedAtMs: nowMs, gpus: [], models };
    return { report, heardAtMs: nowMs, ageWhenHeardMs: 0 };
  };
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
    state: "loaded",
    contextLimitTokens: null,
    replicas: now.states.map((state, index) => replicaHeard(options, index, state, before.states[index] ?? state)),
    kvCapacityTokens: totalBlocksOf(engine) * BLOCK_TOKENS * region.replicas.length,
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
    coldStartMs: null,
    weightBytes: null,
  };
};

const replicaHeard = (
  { site, engine, eyes }: ReporterOptions,
  index: number,
  now: ReplicaState,
  before: ReplicaState,
): ReplicaHeard => {
  const kvCapacityTokens = totalBlocksOf(engine) * BLOCK_TOKENS;
  return {
    id: replicaId(site, index),
    startedAtMs: null,
    backlogMs: eyes === "gateway" ? now.backlogMs : metricsBacklogMs(engine, now, before),
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
