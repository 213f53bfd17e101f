/** One model in one region, as the admin API shows it. */
import { z } from "@hono/zod-openapi";
import type { Placement } from "#gtm/domain/placement.ts";
import type { World } from "#gtm/domain/world.ts";
import { CacheTierView } from "./cache-tiers.ts";

const known = z.number().nullable();

export const ReplicaView = z
  .looseObject({
    id: z.string(),
    /** ms until a request that arrives now would start its prefill. */
    backlogMs: z.number(),
    kvCapacityTokens: known,
    kvPinnedTokens: known,
  })
  .openapi("Replica");

export const PlacementView = z
  .looseObject({
    region: z.string(),
    model: z.string(),
    state: z.string(),
    /** Age of the report all this comes from; null: none yet. */
    reportAgeMs: known,
    replicas: z.array(ReplicaView),
    averageBacklogMs: z.number(),
    longAverageBacklogMs: z.number(),
    isBacklogKnown: z.boolean(),
    requestsRunning: known,
    requestsWaiting: known,
    kvCapacityTokens: known,
    kvCacheUsedFraction: known,
    prefixHitFraction: known,
    prefillTokensPerSecond: known,
    prefillConfidence: z.number(),
    newTokensPerSecond: known,
    itlMs: known,
    ttftP50Ms: known,
    contextLimitTokens: known,
    coldStartMs: known,
    weightBytes: known,
    liveTokens: z.number(),
    heldCorrection: z.number(),
    isHeldCorrectionLearnt: z.boolean(),
    sparePrefillTokensPerSecond: z.number(),
    /** Second tiers of the prefix cache; empty: no source tells of one. */
    cacheTiers: z.array(CacheTierView).default([]),
  })
  .openapi("Placement");
export type PlacementView = z.infer<typeof PlacementView>;

export const placementView = (region: string, reportAgeMs: number | null, placement: Placement): PlacementView => ({
  region,
  model: placement.model,
  state: placement.state,
  reportAgeMs: reportAgeMs === null ? null : Math.round(reportAgeMs),
  replicas: placement.replicas.map(({ id, backlogMs, kvCapacityTokens, kvPinnedTokens }) => ({
    id,
    backlogMs: Math.round(backlogMs),
    kvCapacityTokens,
    kvPinnedTokens,
  })),
  averageBacklogMs: Math.round(placement.averageBacklogMs),
  longAverageBacklogMs: Math.round(placement.longAverageBacklogMs),
  isBacklogKnown: placement.isBacklogKnown,
  requestsRunning: placement.requestsRunning,
  requestsWaiting: placement.requestsWaiting,
  kvCapacityTokens: placement.kvCapacityTokens,
  kvCacheUsedFraction: placement.kvCacheUsedFraction,
  prefixHitFraction: placement.prefixHitFraction,
  prefillTokensPerSecond: placement.prefillTokensPerSecond,
  prefillConfidence: placement.prefillConfidence,
  newTokensPerSecond: placement.newTokensPerSecond,
  itlMs: placement.itlMs,
  ttftP50Ms: placement.ttftP50Ms,
  contextLimitTokens: placement.contextLimitTokens,
  coldStartMs: placement.coldStartMs,
  weightBytes: placement.weightBytes,
  liveTokens: Math.round(placement.liveTokens),
  heldCorrection: placement.heldCorrection,
  isHeldCorrectionLearnt: placement.isHeldCorrectionLearnt,
  sparePrefillTokensPerSecond: Math.round(placement.sparePrefillTokensPerSecond),
  cacheTiers: [],
});

/** @param region null: all; @param model null: all */
export const placementsIn = (world: World, region: string | null, model: string | null): PlacementView[] =>
  world.regions
    .filter((one) => region === null || one.id === region)
    .flatMap((one) =>
      [...one.placements.values()].map((placement) => placementView(one.id, one.reportAgeMs, placement)),
    )
    .filter((one) => model === null || one.model === model);
