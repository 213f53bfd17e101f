/**
 * A region's queue as a router in the path counts it itself, without any report: the work of all that it sent there and
 * that has no first token yet, and a share of the work of what still writes its answer, over all replicas alike.
 */
import { prefillMs } from "#gtm/domain/serving.ts";
import type { Arena, Asked } from "../rival.ts";
import type { QueueEstimate } from "./queue-estimate.ts";
import { keyOf } from "./under-way.ts";

/** @param runningFactor weight of requests that are past their first token, 0 or more */
export const createTrackedQueue = ({ scenario }: Arena, runningFactor: number): QueueEstimate => {
  const sums = scenario.fleet.map(() => 0);
  const counted = new Map<string, { readonly region: number; readonly workMs: number; readonly weight: number }>();
  const count = (turn: Asked, region: number, workMs: number, weight: number): void => {
    remove(turn);
    if (weight === 0) return;
    counted.set(keyOf(turn), { region, workMs, weight });
    sums[region] = (sums[region] ?? 0) + weight * workMs;
  };
  const remove = (turn: Asked): void => {
    const one = counted.get(keyOf(turn));
    if (one === undefined) return;
    counted.delete(keyOf(turn));
    sums[one.region] = (sums[one.region] ?? 0) - one.weight * one.workMs;
  };
  return {
    serve: ({ promptTokens }, region, match) => {
      const fleet = scenario.fleet[region];
      if (fleet === undefined) throw new RangeError(`there is no region ${region}`);
      const workMs = prefillMs(fleet.engine.speed, promptTokens - match.tokens, promptTokens);
      return { queueMs: Math.max(0, sums[region] ?? 0) / fleet.replicas, workMs, replica: null };
    },
    sent: (turn, { region, served }) => count(turn, region, served.workMs, 1),
    firstToken: (turn) => {
      const one = counted.get(keyOf(turn));
      if (one !== undefined) count(turn, one.region, one.workMs, runningFactor);
    },
    ended: remove,
  };
};
