/** Random: each turn to a region drawn evenly. */
import { createDice } from "../dice.ts";
import type { CreateContender } from "../rival.ts";
import { eligibleRegions } from "./eligible.ts";
import { memoryless } from "./memoryless.ts";

export const createRandom: CreateContender = (arena) => {
  const dice = createDice(arena.seed);
  return memoryless(() => {
    const regions = eligibleRegions(arena);
    return regions[Math.floor(dice() * regions.length)] ?? null;
  });
};
