/**
 * Consistent hash of the conversation, weighted by what each region can prefill; optionally with bounded loads: a region
 * with more than its share of the requests under way is passed over for the next in the conversation's order.
 * Sources: Thaler and Ravishankar, rendezvous hashing, IEEE/ACM ToN 6(1), 1998; Mirrokni, Thorup and Zadimoghaddam,
 * "Consistent Hashing with Bounded Loads", SODA 2018, whose deployment takes 1.25 for the bound.
 */
import { rendezvousDraw } from "#gtm/domain/hash.ts";
import { rateOf } from "#gtm/domain/prefill-speeds.ts";
import type { Arena, Asked, Contender } from "../rival.ts";
import { eligibleRegions } from "./eligible.ts";
import { chosen } from "./memoryless.ts";
import { createUnderWay } from "./under-way.ts";

export type ConsistentHash = {
  /** Most requests under way, as a multiple of the region's share; null: no bound. */
  readonly bound: number | null;
};

export const CONSISTENT_HASH: ConsistentHash = { bound: null };
export const BOUNDED_HASH: ConsistentHash = { bound: 1.25 };

export const createConsistentHash = (arena: Arena, { bound }: ConsistentHash): Contender => {
  const { fleet } = arena.scenario;
  const underWay = createUnderWay(fleet.length);
  const hasRoom = (region: number, regions: readonly number[]): boolean => {
    if (bound === null) return true;
    const all = regions.reduce((sum, one) => sum + underWay.count(one), 1);
    const weights = regions.reduce((sum, one) => sum + weightOf(arena, one), 0);
    return underWay.count(region) < Math.ceil((bound * all * weightOf(arena, region)) / weights);
  };
  return {
    choose: (turn) => {
      const regions = rankedRegions(turn, arena);
      const region = regions.find((one) => hasRoom(one, regions)) ?? regions[0] ?? null;
      if (region !== null) underWay.sent(turn, region);
      return chosen(region);
    },
    onFirstToken: () => {},
    onFinished: underWay.ended,
    onFailed: underWay.ended,
  };
};

/** Those that may serve, in the order of the conversation's weighted rendezvous draws. */
export const rankedRegions = (turn: Asked, arena: Pick<Arena, "known" | "scenario">): readonly number[] => {
  const key = String(turn.parent ?? turn.conversation);
  const drawOf = (region: number): number =>
    rendezvousDraw(key, arena.scenario.fleet[region]?.site.id ?? "", weightOf(arena, region));
  return eligibleRegions(arena)
    .map((region) => ({ region, draw: drawOf(region) }))
    .sort((a, b) => b.draw - a.draw || a.region - b.region)
    .map(({ region }) => region);
};

/** Tokens per second of all its replicas. */
const weightOf = ({ scenario }: Pick<Arena, "scenario">, region: number): number => {
  const one = scenario.fleet[region];
  return one === undefined ? 0 : one.replicas * rateOf(one.engine.speed);
};
