/** Least requests: each turn to the region with the fewest requests under way for each of its replicas; of equals to the nearest. */
import type { CreateContender } from "../rival.ts";
import { eligibleRegions, leastBy } from "./eligible.ts";
import { chosen } from "./memoryless.ts";
import { createUnderWay } from "./under-way.ts";

export const createLeastRequests: CreateContender = (arena) => {
  const { fleet } = arena.scenario;
  const underWay = createUnderWay(fleet.length);
  const loadOf = (region: number): number => underWay.count(region) / (fleet[region]?.replicas ?? 1);
  return {
    choose: (turn) => {
      const nearestFirst = eligibleRegions(arena).toSorted(
        (a, b) => arena.known.rttMs(turn.city, a) - arena.known.rttMs(turn.city, b),
      );
      const region = leastBy(nearestFirst, loadOf);
      if (region !== null) underWay.sent(turn, region);
      return chosen(region);
    },
    onFirstToken: () => {},
    onFinished: underWay.ended,
    onFailed: underWay.ended,
  };
};
