/** Whether this GTM answers as it should, and since when it does not: what /readyz and the admin API say. */
import type { World } from "#gtm/domain/world.ts";
import type { Health } from "#gtm/wire/admin/ports.ts";
import type { Clock } from "#shared/clock.ts";

export type HealthWatch = {
  readonly health: () => Health;
  /** Every part has started. */
  readonly started: () => void;
  /** From now on no new work should come. */
  readonly stopping: () => void;
};

/** Degraded is still ready: a GTM that knows little answers better than none. */
export const createHealthWatch = (world: () => World, clock: Clock): HealthWatch => {
  let isReady = false;
  let degradedSinceMs: number | null = null;
  return {
    started: () => {
      isReady = true;
    },
    stopping: () => {
      isReady = false;
    },
    health: () => {
      const reasons = reasonsIn(world());
      if (reasons.length === 0) degradedSinceMs = null;
      else degradedSinceMs ??= clock.epochMs();
      return { isReady, degradedSinceMs, reasons };
    },
  };
};

const reasonsIn = (world: World): readonly string[] => [
  ...(world.isStoreUp ? [] : ["the store does not answer: decisions rest on what was known before"]),
  ...(world.areAgesFrozen && world.isStoreUp
    ? ["over half of the regions fell silent at once: their ages stand still"]
    : []),
  ...world.regions.flatMap((region) => {
    if (region.health === "healthy") return [];
    return [`region ${region.id} is ${region.health}${region.reportAgeMs === null ? ": it has not reported" : ""}`];
  }),
];
