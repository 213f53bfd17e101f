/** Round trips that gateways measured, by region and client network: bounded for each region, and forgotten with time. */
import { LRUCache } from "lru-cache";
import {
  LEAST_RTT_MS,
  MOST_RTT_MS,
  ROUND_TRIP_KEPT_MS,
  type RoundTripWindows,
  withRoundTrip,
} from "#gtm/domain/round-trips.ts";
import type { RegionId } from "#shared/ids.ts";
import { parseSubnet, subnetText, truncated } from "./subnet.ts";

export type LearntRoundTrips = {
  readonly observe: (region: RegionId, clientPrefix: string, rttMs: number) => void;
  /** What was observed since the last time becomes one sample for each region and network. */
  readonly fold: (nowMs: number) => void;
  /** By network, then region; another map where anything changed. */
  readonly known: () => ReadonlyMap<string, ReadonlyMap<RegionId, number>>;
};

/** Networks a region: what one gateway says pushes out no other region's. About 400 octets each. */
const MOST_NETWORKS = 8_192;
/** Networks a region within one round. */
const MOST_A_ROUND = 2_048;

export const createLearntRoundTrips = (): LearntRoundTrips => {
  const tables = new Map<RegionId, LRUCache<string, RoundTripWindows>>();
  const round = new Map<RegionId, Map<string, number>>();
  let known: Map<string, ReadonlyMap<RegionId, number>> = new Map();
  let changed: Map<string, Map<RegionId, number | null>> = new Map();

  const note = (network: string, region: RegionId, ms: number | null): void => {
    const before = changed.get(network) ?? new Map<RegionId, number | null>();
    changed.set(network, before.set(region, ms));
  };
  const tableOf = (region: RegionId): LRUCache<string, RoundTripWindows> => {
    const standing = tables.get(region);
    if (standing !== undefined) return standing;
    const made = new LRUCache<string, RoundTripWindows>({
      max: MOST_NETWORKS,
      dispose: (_, network, reason) => {
        if (reason === "evict" || reason === "delete") note(network, region, null);
      },
    });
    tables.set(region, made);
    return made;
  };
  const take = (region: RegionId, network: string, rttMs: number, nowMs: number): void => {
    const table = tableOf(region);
    const before = table.get(network) ?? null;
    const next = withRoundTrip(before, rttMs, nowMs);
    table.set(network, next);
    if (next.knownMs !== before?.knownMs) note(network, region, next.knownMs);
  };
  /** The least lately measured come first. */
  const forgetOld = (nowMs: number): void => {
    for (const table of tables.values()) {
      for (const network of [...table.rkeys()]) {
        const atMs = table.peek(network)?.atMs ?? Number.NEGATIVE_INFINITY;
        if (nowMs - atMs <= ROUND_TRIP_KEPT_MS) break;
        table.delete(network);
      }
    }
  };
  const publish = (): void => {
    if (changed.size === 0) return;
    const next = new Map(known);
    for (const [network, regions] of changed) {
      const all = new Map(next.get(network));
      for (const [region, ms] of regions) ms === null ? all.delete(region) : all.set(region, ms);
      if (all.size === 0) next.delete(network);
      else next.set(network, all);
    }
    known = next;
    changed = new Map();
  };

  return {
    known: () => known,
    observe: (region, clientPrefix, rttMs) => {
      if (rttMs < LEAST_RTT_MS || rttMs > MOST_RTT_MS) return;
      const subnet = parseSubnet(clientPrefix);
      if (subnet === null) return;
      const network = subnetText(truncated(subnet));
      const samples = round.get(region) ?? new Map<string, number>();
      round.set(region, samples);
      if (!samples.has(network) && samples.size >= MOST_A_ROUND) return;
      samples.set(network, Math.min(samples.get(network) ?? Number.POSITIVE_INFINITY, rttMs));
    },
    fold: (nowMs) => {
      for (const [region, samples] of round) for (const [network, ms] of samples) take(region, network, ms, nowMs);
      round.clear();
      forgetOld(nowMs);
      publish();
    },
  };
};
