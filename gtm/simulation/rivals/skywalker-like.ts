/**
 * SkyWalker-like: the client's nearest region while some replica there has nobody waiting; else, of the regions where that is so,
 * the one that holds the longest prefix; where it is so nowhere, the turn waits at home.
 *
 * Source: Xia et al., "SkyLB: A Locality-Aware Cross-Region Load Balancer for LLM Inference", arXiv 2505.24095 (2025; later
 * named SkyWalker): selective pushing by pending requests, local first, a prefix tree of what was sent where. Its load
 * balancers look at their replicas every 100 ms. Ours report each second where nothing else is said, so it is let look at
 * the truth ten times as often as regions report, without delay; and it counts what it sent since.
 */
import type { Arena, Contender } from "../rival.ts";
import { eligibleRegions, leastBy, nearestRegion } from "./eligible.ts";
import { fleetPrefixIndex, learnsFrom } from "./fleet-caches.ts";
import { chosen } from "./memoryless.ts";

export type SkywalkerLike = {
  /** How often it looks for each report that the regions make. */
  readonly looksPerReport: number;
  /** How many may wait at a replica before it is full. */
  readonly mostWaiting: number;
};

export const SKYWALKER_LIKE: SkywalkerLike = { looksPerReport: 10, mostWaiting: 0 };

type Look = { readonly atMs: number; free: number };

export const createSkywalkerLike = (arena: Arena, options: SkywalkerLike): Contender => {
  const { agenda, scenario, regions } = arena;
  const index = fleetPrefixIndex(arena);
  const everyMs = scenario.reporting.everyMs / options.looksPerReport;
  const looks = new Map<number, Look>();
  const lookAt = (region: number): Look => {
    const last = looks.get(region);
    if (last !== undefined && agenda.nowMs() - last.atMs < everyMs) return last;
    regions[region]?.catchUp(agenda.nowMs());
    const replicas = regions[region]?.replicas ?? [];
    const free = replicas.filter((replica) => replica.state().waiting <= options.mostWaiting).length;
    const look = { atMs: agenda.nowMs(), free };
    looks.set(region, look);
    return look;
  };
  return {
    choose: (turn) => {
      const local = nearestRegion(turn, arena);
      if (local === null) return null;
      const isAvailable = (region: number): boolean => lookAt(region).free > 0;
      const matched = (region: number): number => index.match(region, turn.blocks, turn.promptTokens).tokens;
      const nearestFirst = eligibleRegions(arena)
        .filter(isAvailable)
        .sort((a, b) => arena.known.rttMs(turn.city, a) - arena.known.rttMs(turn.city, b));
      const region = isAvailable(local) ? local : (leastBy(nearestFirst, (one) => -matched(one)) ?? local);
      lookAt(region).free -= 1;
      return chosen(region);
    },
    ...learnsFrom(index),
  };
};
