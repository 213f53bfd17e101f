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
  readonly previous: { readonly averageBacklogMs: number; readonly atMs: number } | null;
};

/** The time over which a backlog is averaged for DNS: three times the TTL of its answers. */
const AVERAGED_OVER_MS = 60_000;

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
    averageBacklogMs: averageOf(replicas, context),
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
const averageOf = (replicas: readonly Replica[], { previous, nowMs }: PlacementContext): number => {
  const meanMs = evenMeanOfKnown(replicas, ({ backlogMs }) => backlogMs) ?? 0;
  if (previous === null) return meanMs;
  const share = 1 - Math.exp(-Math.max(0, nowMs - previous.atMs) / AVERAGED_OVER_MS);
  return previous.averageBacklogMs + share * (meanMs - previous.averageBacklogMs);
};

/** c_r before anything is observed: a region that keeps conversations on a replica holds what the ledger says. */
const heldPrior = (site: RegionSite, replicaCount: number): number =>
  site.hasGateway || site.hasAffinity ? 1 : 1 / Math.max(1, replicaCount);
