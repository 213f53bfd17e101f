/** How much longer the answer takes to write here than in the region that writes fastest. */
import type { Placement } from "#gtm/domain/placement.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "../policy.ts";

/** Writing the whole answer here; null: the inter-token latency is not known. */
export const writingMs = (turn: Turn, placement: Placement): number | null =>
  placement.itlMs === null ? null : Math.min(MOST_MS, turn.outputTokens * placement.itlMs);

/** Eleven days. */
const MOST_MS = 1e9;

/** @returns ms, 0 or more; 0 where either inter-token latency is unknown */
export const decodeMs = (turn: Turn, placement: Placement, world: World, policy: Policy): number => {
  const bestItlMs = world.models.get(turn.model)?.bestItlMs ?? null;
  if (placement.itlMs === null || bestItlMs === null) return 0;
  return policy.decodeWeight * turn.outputTokens * Math.max(0, placement.itlMs - bestItlMs);
};
