/** One model in one region: what its agents report, summed and weighed, brought forward to now. */
import type { ModelId } from "#shared/ids.ts";
import { HELD_HABIT, heldCorrectionOf } from "./held-observed.ts";
import { bounded, evenMeanOfKnown } from "./known.ts";
import type { Model } from "./model.ts";
import type { Placement, Replica } from "./placement.ts";
import { type PlacementPart, saysOf } from "./placement-says.ts";
import { spareTokensPerSecond } from "./prefill-speeds.ts";
import type { RegionSite } from "./region.ts";
import { type ReplicaContext, replicasOf } from "./replica-assembly.ts";
import { isHeard, type Tally } from "./tally.ts";

type Averages = Pick<Placement, "averageBacklogMs" | "longAverageBacklogMs">;

export type PlacementContext = ReplicaContext & {
  readonly model: ModelId;
  readonly site: RegionSite;
  /** null: the configuration does not name the model. */
  readonly configured: Model | null;
  /** Over all GTMs. */
  readonly liveTokens: number;
  /** null: nothing has been observed yet. */
  readonly heldObserved: Tally | null;
  /** null: the placement is new. */
  readonly previous: (Averages & { readonly atMs: number }) | null;
};

/** The time over which a backlog is averaged for DNS: three times the TTL of its answers. */
const AVERAGED_OVER_MS = 60_000;
/** A minute's queue is mostly chance, and a cell that moves for it stays for an hour. */
const LONG_AVERAGED_OVER_MS = 300_000;

/** @param parts one an agent, in the order of the agents' names; at least one */
export const placementOf = (parts: readonly PlacementPart[], context: PlacementContext): Placement => {
  const { configured, site } = context;
  const says = saysOf(parts);
  const { state, isBacklogKnown, figures } = says;
  const replicas = replicasOf(says, context);
  const speedWithoutReplicas = says.modelSpeed ?? context.borrowed();
  const speeds = replicas.length === 0 ? [speedWithoutReplicas] : replicas.map(({ speed }) => speed);
  return {
    model: context.model,
    state,
    replicas,
    speedWithoutReplicas,
    ...averagesOf(replicas, context),
    isBacklogKnown,
    contextLimitTokens: figures.contextLimitTokens,
    requestsRunning: figures.requestsRunning,
    requestsWaiting: figures.requestsWaiting,
    kvCapacityTokens: figures.kvCapacityTokens,
    kvCacheUsedFraction: figures.kvCacheUsedFraction,
    prefixHitFraction: figures.prefixHitFraction,
    newTokensPerSecond: figures.newTokensPerSecond,
    prefillTokensPerSecond: figures.prefillTokensPerSecond,
    prefillConfidence: figures.prefillConfidence,
    itlMs: figures.itlMs,
    ttftP50Ms: figures.ttftP50Ms,
    coldStartMs: figures.coldStartMs ?? configured?.coldStartMs ?? null,
    weightBytes: figures.weightBytes ?? configured?.weightBytes ?? null,
    liveTokens: bounded(context.liveTokens) ?? 0,
    leastOccupancy: 0,
    heldCorrection: heldCorrectionOf(context.heldObserved, heldPrior(site, replicas.length)),
    isHeldCorrectionLearnt: isHeard(context.heldObserved, HELD_HABIT),
    sparePrefillTokensPerSecond: spareTokensPerSecond(speeds, figures.newTokensPerSecond),
  };
};

/** Exponential, by the time that passed, so that it does not matter how often the world is taken. */
const averagesOf = (replicas: readonly Replica[], { previous, nowMs }: PlacementContext): Averages => {
  const meanMs = evenMeanOfKnown(replicas, ({ backlogMs }) => backlogMs) ?? 0;
  // What was seen once is no long queue.
  if (previous === null) return { averageBacklogMs: meanMs, longAverageBacklogMs: 0 };
  const passedMs = Math.max(0, nowMs - previous.atMs);
  const brought = (averageMs: number, overMs: number): number =>
    averageMs + (1 - Math.exp(-passedMs / overMs)) * (meanMs - averageMs);
  return {
    averageBacklogMs: brought(previous.averageBacklogMs, AVERAGED_OVER_MS),
    longAverageBacklogMs: brought(previous.longAverageBacklogMs, LONG_AVERAGED_OVER_MS),
  };
};

/** c_r before anything is observed: a region that keeps conversations on a replica holds what the ledger says. */
const heldPrior = (site: RegionSite, replicaCount: number): number =>
  site.hasGateway || site.hasAffinity ? 1 : 1 / Math.max(1, replicaCount);
