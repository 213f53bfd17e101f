/** Which regions a rival may choose from: those that probes and operators' orders leave. */
import type { Arena, Asked } from "../rival.ts";

/** Indices in the order of the fleet; none where no region may serve. */
export const eligibleRegions = ({ known, scenario }: Pick<Arena, "known" | "scenario">): readonly number[] =>
  scenario.fleet.flatMap((_, region) => (known.mayServe(region) ? [region] : []));

/** The region with the least value; of equals the first in the list. @returns null: the list is empty */
export const leastBy = (regions: readonly number[], value: (region: number) => number): number | null => {
  let best: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const region of regions) {
    const one = value(region);
    if (best !== null && one >= least) continue;
    best = region;
    least = one;
  }
  return best;
};

/** By round trip; null: no region may serve. */
export const nearestRegion = (turn: Asked, arena: Pick<Arena, "known" | "scenario">): number | null =>
  leastBy(eligibleRegions(arena), (region) => arena.known.rttMs(turn.city, region));
