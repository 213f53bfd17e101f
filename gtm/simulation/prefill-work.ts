/** What a traffic would cost without any cache: the only measure of load that no policy can change. */
import { type PrefillSpeed, prefillMs } from "#gtm/domain/serving.ts";
import type { Traffic } from "./traffic.ts";
import { VISIT, visitTurns } from "./traffic-in-order.ts";

/**
 * Mean prefill time of a turn whose whole prompt is computed, on one replica of this speed.
 *
 * @param turns how many are looked at, in the order of time; fewer if the traffic ends before
 * @returns ms; 0 for a traffic without turns
 */
export const noCachePrefillMs = (traffic: Traffic, speed: PrefillSpeed, turns = TURNS): number => {
  let count = 0;
  let sumMs = 0;
  visitTurns(traffic, { ...VISIT, mostTurns: turns }, ({ promptTokens }) => {
    count += 1;
    sumMs += prefillMs(speed, promptTokens, promptTokens);
  });
  return count === 0 ? 0 : sumMs / count;
};

/** Prompts are so unequal that fewer leave the mean 2 % and more from what it is. */
const TURNS = 20_000;

/**
 * Turns a second that are this share of what the replicas can prefill without any cache.
 *
 * @param load 0.8: four fifths of it
 * @param replicas how many of the speed that `turnMs` was measured with
 */
export const turnsPerSecondAt = (load: number, replicas: number, turnMs: number): number =>
  (load * replicas * 1_000) / turnMs;
