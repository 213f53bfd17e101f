/** Second tiers of prefix caches (LMCache and the like), as agents report them beside a placement. */
import { z } from "@hono/zod-openapi";
import type { AgentSeen } from "./agents-port.ts";

const known = z.number().nullable();

export const CacheTierView = z
  .looseObject({
    /** `lmcache`, `external`, `host`. */
    tier: z.string(),
    /** `host:port` that says it. */
    source: z.string(),
    /** Tokens found there ÷ tokens looked up there, lately; null: nothing was looked up. */
    hitFraction: known,
    hitFractionSinceStart: known,
    usedFraction: known,
    memoryUsedBytes: known,
    storageUsedBytes: known,
    remoteUsedBytes: known,
  })
  .openapi("CacheTier");
export type CacheTierView = z.infer<typeof CacheTierView>;

type Placed = { readonly region: string; readonly model: string };

export const cacheTiersOf = (agents: readonly AgentSeen[], { region, model }: Placed): readonly CacheTierView[] =>
  agents
    .filter((one) => one.region === region)
    .flatMap(({ report }) => report?.models.filter((one) => one.model === model) ?? [])
    .flatMap(({ cacheTiers = [] }) =>
      cacheTiers.map((one) => ({
        tier: one.tier,
        source: one.source,
        hitFraction: one.hitFraction,
        hitFractionSinceStart: one.hitFractionSinceStart,
        usedFraction: one.usedFraction,
        memoryUsedBytes: one.memoryUsedBytes,
        storageUsedBytes: one.storageUsedBytes,
        remoteUsedBytes: one.remoteUsedBytes,
      })),
    );

export const withCacheTiers = <P extends Placed>(placements: readonly P[], agents: readonly AgentSeen[]) =>
  placements.map((one) => ({ ...one, cacheTiers: [...cacheTiersOf(agents, one)] }));
