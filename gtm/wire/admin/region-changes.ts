/** What became different about regions between two snapshots of the world, as far as people on call want to hear of it. */
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";

export type Change = { readonly field: string; readonly from: string | null; readonly to: string | null };
export type RegionChange = { readonly region: string; readonly changes: readonly Change[] };

export const regionChanges = (before: World, after: World): readonly RegionChange[] => {
  if (before === after) return [];
  const was = new Map(before.regions.map((region) => [region.id, region]));
  return after.regions.flatMap((region) => {
    const earlier = was.get(region.id);
    const changes = earlier === undefined || earlier === region ? [] : changesOf(earlier, region);
    return changes.length === 0 ? [] : [{ region: region.id, changes }];
  });
};

const changesOf = (was: Region, is: Region): readonly Change[] => [
  ...change("admin", was.admin, is.admin),
  ...change("health", was.health, is.health),
  ...change("isPartial", String(was.isPartial), String(is.isPartial)),
  ...placementChanges(was, is),
];

const placementChanges = (was: Region, is: Region): readonly Change[] =>
  [...new Set([...was.placements.keys(), ...is.placements.keys()])].flatMap((model) =>
    change(`placement ${model}`, was.placements.get(model)?.state ?? null, is.placements.get(model)?.state ?? null),
  );

const change = (field: string, from: string | null, to: string | null): readonly Change[] =>
  from === to ? [] : [{ field, from, to }];
