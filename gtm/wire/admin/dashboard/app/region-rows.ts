/** Regions as the overview lists them: what reports say, summed over placements, and how turns went. */

import type { RegionView } from "#gtm/wire/admin/region-view.ts";
import type { RecentView } from "#gtm/wire/admin/routes/recent.ts";

export type RegionRow = {
  readonly region: RegionView;
  readonly healthForMs: number | null;
  readonly adminForMs: number | null;
  readonly backlogMs: number | null;
  readonly kvUsedFraction: number | null;
  readonly hitFraction: number | null;
  readonly running: number | null;
  readonly waiting: number | null;
  readonly turns: number;
  readonly overThreeSeconds: number;
};

export const regionRows = (
  regions: readonly RegionView[],
  recent: RecentView | null,
  nowMs = Date.now(),
): readonly RegionRow[] =>
  regions.map((region) => {
    const since = recent?.since.find((one) => one.region === region.id);
    const { placements } = region;
    const turns = recent?.buckets.flatMap((bucket) => bucket.turns.filter((one) => one.region === region.id)) ?? [];
    return {
      region,
      healthForMs: since === undefined ? null : nowMs - Date.parse(since.healthSince),
      adminForMs: since === undefined ? null : nowMs - Date.parse(since.adminSince),
      backlogMs: worst(placements.map(({ averageBacklogMs }) => averageBacklogMs)),
      kvUsedFraction: worst(placements.map(({ kvCacheUsedFraction }) => kvCacheUsedFraction)),
      hitFraction: mean(placements.map(({ prefixHitFraction }) => prefixHitFraction)),
      running: sum(placements.map(({ requestsRunning }) => requestsRunning)),
      waiting: sum(placements.map(({ requestsWaiting }) => requestsWaiting)),
      turns: turns.reduce((total, one) => total + one.turns, 0),
      overThreeSeconds: turns.reduce((total, one) => total + one.overThreeSeconds, 0),
    };
  });

/** Of what is known; null: nothing is. */
const known = (values: readonly (number | null)[]): readonly number[] => values.filter((value) => value !== null);
const worst = (values: readonly (number | null)[]): number | null =>
  known(values).length === 0 ? null : Math.max(...known(values));
const sum = (values: readonly (number | null)[]): number | null =>
  known(values).length === 0 ? null : known(values).reduce((total, value) => total + value, 0);
const mean = (values: readonly (number | null)[]): number | null => {
  const total = sum(values);
  return total === null ? null : total / known(values).length;
};
