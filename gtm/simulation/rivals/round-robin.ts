/** Round robin: each turn to the next region, whatever it holds or has to do. The default of most load balancers. */
import type { CreateContender } from "../rival.ts";
import { eligibleRegions } from "./eligible.ts";
import { memoryless } from "./memoryless.ts";

export const createRoundRobin: CreateContender = (arena) => {
  let turns = -1;
  return memoryless(() => {
    const regions = eligibleRegions(arena);
    turns += 1;
    return regions[turns % Math.max(1, regions.length)] ?? null;
  });
};
