/** Sticky: the first turn to the nearest region, all others where the turn before went, for as long as that may serve. */
import type { CreateContender } from "../rival.ts";
import { nearestRegion } from "./eligible.ts";
import { memoryless } from "./memoryless.ts";

export const createSticky: CreateContender = (arena) =>
  memoryless((turn) =>
    turn.previous !== null && arena.known.mayServe(turn.previous) ? turn.previous : nearestRegion(turn, arena),
  );
