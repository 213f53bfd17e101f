/** One model in one region, put together from what its agents report: counts, tokens and capacity summed, fractions weighed. */
import type { ModelId } from "#shared/ids.ts";
import type { ModelHeard } from "./heard-report.ts";
import { HELD_HABIT, heldCorrectionOf } from "./held-observed.ts";
import { bounded, greatestKnown, leastKnown, meanOfKnown, sumOfKnown } from "./known.ts";
import type { Model } from "./model.ts";
import type { Placement, PlacementState, Replica } from "./placement.ts";
import { reportedModelSpeed, spareTokensPerSecond } from "./prefill-speeds.ts";
import type { RegionSite } from "./region.ts";
import { type PlacementPart, type ReplicaContext, replicasOf } from "./replica-assembly.ts";
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

/** The first of these that any agent reports is the state of the whole. */
const STATES: readonly PlacementState[] = ["loaded", "loading", "asleep", "on-disk", "down"];

/** @param parts one an agent, in the order of the agents' names; at least one */
export const placementOf = (parts: readonly PlacementPart[], context: PlacementContext): Placement => {
  const { configured, site } = context;
  const state = STATES.find((one) => parts.some(({ model }) => model.state === one)) ?? "down";
  const serving = parts.filter(({ model }) => model.state === state);
  const models = serving.map(({ model }) => model);
  const { replicas, isBacklogKnown } = replicasOf(serving, state, context);
  const speedWithoutReplicas = models.map(reportedModelSpeed).find((speed) => speed !== null) ?? context.borrowed;
  const newTokensPerSecond = sumOver(models, (model) => model.newTokensPerSecond);
  const speeds = replicas.length === 0 ? [speedWithoutReplicas] : replicas.map(({ speed }) => speed);
  return {
    model: context.model,
    state,
    contextLimitTokens: leastKnown(models.map((model) => bounded(model.contextLimitTokens))),
    replicas,
    speedWithoutReplicas,
    averageBacklogMs: averageOf(replicas, context),
    isBacklogKnown,
    requestsRunning: sumOver(models, (model) => model.requestsRunning),
    requestsWaiting: sumOver(models, (model) => model.requestsWaiting),
    kvCapacityTokens: sumOver(models, capacityOf),
    kvCacheUsedFraction: meanOver(models, usedFractionOf, capacityOf),
    prefixHitFraction: meanOver(models, hitFractionOf, (model) => model.newTokensPerSecond),
    newTokensPerSecond,
    prefillTokensPerSecond: meanOver(models, (model) => model.prefillTokensPerSecond, replicaCount),
    prefillConfidence: meanOver(models, confidenceOf, replicaCount) ?? 0,
    itlMs: meanOver(models, ({ itlMs }) => itlMs, replicaCount),
    ttftP50Ms: meanOver(models, ({ ttftP50Ms }) => ttftP50Ms, replicaCount),
    coldStartMs: greatestOver(parts, ({ coldStartMs }) => coldStartMs) ?? configured?.coldStartMs ?? null,
    weightBytes: greatestOver(parts, ({ weightBytes }) => weightBytes) ?? configured?.weightBytes ?? null,
    liveTokens: bounded(context.liveTokens) ?? 0,
    heldCorrection: heldCorrectionOf(context.heldObserved, heldPrior(site, replicas.length)),
    isHeldCorrectionLearnt: isHeard(context.heldObserved, HELD_HABIT),
    sparePrefillTokensPerSecond: spareTokensPerSecond(speeds, newTokensPerSecond),
  };
};

/** Exponential, by the time that passed, so that it does not matter how often the world is taken. */
const averageOf = (replicas: readonly Replica[], { previous, nowMs }: PlacementContext): number => {
  const meanMs = meanOfKnown(replicas.map(({ backlogMs }) => ({ value: backlogMs, weight: 1 }))) ?? 0;
  if (previous === null) return meanMs;
  const share = 1 - Math.exp(-Math.max(0, nowMs - previous.atMs) / AVERAGED_OVER_MS);
  return previous.averageBacklogMs + share * (meanMs - previous.averageBacklogMs);
};

/** c_r before anything is observed: a region that keeps conversations on a replica holds what the ledger says. */
const heldPrior = (site: RegionSite, replicaCount: number): number =>
  site.hasGateway || site.hasAffinity ? 1 : 1 / Math.max(1, replicaCount);

type Read = (model: ModelHeard) => number | null;

const sumOver = (models: readonly ModelHeard[], read: Read): number | null =>
  bounded(sumOfKnown(models.map((model) => bounded(read(model)))));

const meanOver = (models: readonly ModelHeard[], read: Read, weigh: Read): number | null =>
  meanOfKnown(models.map((model) => ({ value: bounded(read(model)), weight: bounded(weigh(model)) })));

/** Of all agents', whatever state they report: how big a model is does not depend on it. */
const greatestOver = (parts: readonly PlacementPart[], read: Read): number | null =>
  greatestKnown(parts.map(({ model }) => bounded(read(model))));

const replicaCount = (model: ModelHeard): number => Math.max(1, model.replicas.length);
const usedFractionOf = (model: ModelHeard): number | null => bounded(model.kvCacheUsedFraction, 0, 1);
const hitFractionOf = (model: ModelHeard): number | null => bounded(model.prefixHitFraction, 0, 1);

const capacityOf = (model: ModelHeard): number | null =>
  model.kvCapacityTokens ?? sumOfKnown(model.replicas.map((replica) => bounded(replica.kvCapacityTokens)));

/** A rate that is borrowed, or whose agent does not say how sure it is, is a guess. */
const confidenceOf = (model: ModelHeard): number =>
  reportedModelSpeed(model) === null ? 0 : (bounded(model.prefillConfidence, 0, 1) ?? 0);
