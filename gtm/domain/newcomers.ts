/** Regions whose caches are empty because their engines began later than those elsewhere, not because nobody wants them. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { Placement } from "./placement.ts";
import type { Region } from "./region.ts";

/** Engines that began within it began together. */
const TOGETHER_MS = 60_000;

/**
 * The memory price takes a newcomer's cache to be as full as those of the regions that began first, less and less until it has
 * been there for the pin's time. Else nothing but its queue would speak against a region that has just come, and most new
 * conversations would go there while the others idle.
 *
 * @param pinMs how long contexts live
 * @returns the same regions where nobody came later; a region whose starts are not known is none
 */
export const withNewcomers = (regions: readonly Region[], nowMs: number, pinMs: number): readonly Region[] => {
  const floors = new Map<RegionId, Map<ModelId, number>>();
  for (const model of modelsOf(regions)) {
    const places = regions.flatMap((region) => placeOf(region, model) ?? []);
    const firstMs = places.reduce((least, { startedAtMs }) => Math.min(least, startedAtMs), Number.POSITIVE_INFINITY);
    const isFirst = ({ startedAtMs }: Place): boolean => startedAtMs - firstMs <= TOGETHER_MS;
    if (places.every(isFirst)) continue;
    const first = places.filter(isFirst);
    const occupancy = first.reduce((sum, one) => sum + one.occupancy, 0) / first.length;
    for (const { region, startedAtMs } of places.filter((one) => !isFirst(one))) {
      const youth = Math.max(0, 1 - Math.max(0, nowMs - startedAtMs) / pinMs);
      if (youth > 0) floors.set(region, (floors.get(region) ?? new Map()).set(model, youth * occupancy));
    }
  }
  return floors.size === 0 ? regions : regions.map((region) => raised(region, floors.get(region.id)));
};

type Place = {
  readonly region: RegionId;
  /** Mean of its replicas, monotonic ms. */
  readonly startedAtMs: number;
  /** Live contexts over capacity. */
  readonly occupancy: number;
};

const modelsOf = (regions: readonly Region[]): ReadonlySet<ModelId> => {
  const models = new Set<ModelId>();
  for (const { placements } of regions) for (const model of placements.keys()) models.add(model);
  return models;
};

/** null: not loaded, or not known since when or how large. */
const placeOf = (region: Region, model: ModelId): Place | null => {
  const placement = region.placements.get(model);
  if (placement === undefined || placement.state !== "loaded" || placement.replicas.length === 0) return null;
  const { kvCapacityTokens, liveTokens, replicas } = placement;
  if (kvCapacityTokens === null || kvCapacityTokens <= 0) return null;
  let sumMs = 0;
  for (const { startedAtMs } of replicas) {
    if (startedAtMs === null) return null;
    sumMs += startedAtMs;
  }
  return { region: region.id, startedAtMs: sumMs / replicas.length, occupancy: liveTokens / kvCapacityTokens };
};

const raised = (region: Region, floors: ReadonlyMap<ModelId, number> | undefined): Region => {
  if (floors === undefined) return region;
  const placements = new Map<ModelId, Placement>();
  for (const [model, placement] of region.placements) {
    const leastOccupancy = floors.get(model);
    placements.set(model, leastOccupancy === undefined ? placement : { ...placement, leastOccupancy });
  }
  return { ...region, placements };
};
