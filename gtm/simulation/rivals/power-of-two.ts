/**
 * Power of two choices: of a few regions drawn evenly, the one with the fewest requests under way for each replica.
 * Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.
 */
import { createDice } from "../dice.ts";
import type { Arena, Contender } from "../rival.ts";
import { eligibleRegions, leastBy } from "./eligible.ts";
import { chosen } from "./memoryless.ts";
import { createUnderWay } from "./under-way.ts";

export type PowerOfTwo = {
  /** How many are drawn; more than there are: all. */
  readonly choices: number;
};

export const POWER_OF_TWO: PowerOfTwo = { choices: 2 };

export const createPowerOfTwo = (arena: Arena, { choices }: PowerOfTwo): Contender => {
  const { fleet } = arena.scenario;
  const dice = createDice(arena.seed);
  const underWay = createUnderWay(fleet.length);
  return {
    choose: (turn) => {
      const left = [...eligibleRegions(arena)];
      const drawn: number[] = [];
      while (drawn.length < choices && left.length > 0) drawn.push(...left.splice(Math.floor(dice() * left.length), 1));
      const region = leastBy(drawn, (one) => underWay.count(one) / (fleet[one]?.replicas ?? 1));
      if (region !== null) underWay.sent(turn, region);
      return chosen(region);
    },
    onFirstToken: () => {},
    onFinished: underWay.ended,
    onFailed: underWay.ended,
  };
};
