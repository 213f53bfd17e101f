/** Round trips as a region's gateway measures them for each city's network, learnt as production learns them. */
import { type RoundTripWindows, withRoundTrip } from "#gtm/domain/round-trips.ts";
import type { RegionId } from "#shared/ids.ts";

export type MeasuredTrips = {
  readonly observe: (network: string, region: RegionId, rttMs: number) => void;
  /** The least of what was observed since the last time is one sample. */
  readonly fold: (nowMs: number) => void;
  /** By network, then region. */
  readonly known: () => ReadonlyMap<string, ReadonlyMap<RegionId, number>>;
};

export const createMeasuredTrips = (): MeasuredTrips => {
  const windows = new Map<string, Map<RegionId, RoundTripWindows>>();
  let round = new Map<string, Map<RegionId, number>>();
  let known: ReadonlyMap<string, ReadonlyMap<RegionId, number>> = new Map();
  const take = (network: string, region: RegionId, rttMs: number, nowMs: number): boolean => {
    const table = windows.get(network) ?? new Map<RegionId, RoundTripWindows>();
    windows.set(network, table);
    const before = table.get(region) ?? null;
    const after = withRoundTrip(before, rttMs, nowMs);
    table.set(region, after);
    return after.knownMs !== (before?.knownMs ?? null);
  };
  return {
    observe: (network, region, rttMs) => {
      const samples = round.get(network) ?? new Map<RegionId, number>();
      round.set(network, samples);
      samples.set(region, Math.min(samples.get(region) ?? Number.POSITIVE_INFINITY, rttMs));
    },
    fold: (nowMs) => {
      const changed = new Set<string>();
      for (const [network, samples] of round) {
        for (const [region, rttMs] of samples) if (take(network, region, rttMs, nowMs)) changed.add(network);
      }
      round = new Map();
      if (changed.size === 0) return;
      const next = new Map(known);
      for (const network of changed) next.set(network, knownIn(windows.get(network) ?? new Map()));
      known = next;
    },
    known: () => known,
  };
};

const knownIn = (table: ReadonlyMap<RegionId, RoundTripWindows>): ReadonlyMap<RegionId, number> =>
  new Map([...table].flatMap(([region, { knownMs }]) => (knownMs === null ? [] : [[region, knownMs] as const])));
