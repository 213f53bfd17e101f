/** Nearest: each turn to the region with the shortest measured round trip, as latency-based DNS and anycast do. */
import type { CreateContender } from "../rival.ts";
import { nearestRegion } from "./eligible.ts";
import { memoryless } from "./memoryless.ts";

export const createNearest: CreateContender = (arena) => memoryless((turn) => nearestRegion(turn, arena));
