/** The longest context that a pool's regions take of a model. */
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { ModelId } from "#shared/ids.ts";

/** @param model null: the pool's first @returns tokens; null: a region with the model names no limit, or none has the model */
export const longestContext = (world: World, pool: Pool, model: ModelId | null): number | null => {
  const asked = model ?? pool.models[0];
  let longest: number | null = null;
  for (const region of world.regions) {
    const placement = asked === undefined ? undefined : region.placements.get(asked);
    if (placement === undefined || !pool.regions.includes(region.id)) continue;
    if (placement.contextLimitTokens === null) return null;
    longest = Math.max(longest ?? 0, placement.contextLimitTokens);
  }
  return longest;
};
