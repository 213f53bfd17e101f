/**
 * GORGO-like: the region with the least round trips + uncached tokens × time a token + queue.
 *
 * Source: Ricci Toniolo, Dinesh and Thorstenson, "GORGO: Maximizing KV-Cache Reuse While Minimizing Network Latency in
 * Cross-Region LLM Load Balancing", arXiv 2602.11688 (2026), and its code, github.com/atoniolo76/gotoni: one proxy that sees
 * every request, a prefix tree of what it sent where, and a weight for requests that already run. It is given more than
 * that here: the exact speed with its quadratic term, and a prefix tree that forgets as the caches do.
 */
import type { Arena, Contender } from "../rival.ts";
import { eligibleRegions } from "./eligible.ts";
import { fleetPrefixIndex, learnsFrom } from "./fleet-caches.ts";
import { createPlayedQueue } from "./played-queue.ts";
import type { Going, QueueEstimate } from "./queue-estimate.ts";
import { createReportedQueue } from "./reported-queue.ts";
import { createTrackedQueue } from "./tracked-queue.ts";
import { createTravel } from "./travel.ts";

export type GorgoLike = {
  /** Where its queue comes from: reports of the regions; its own count, as the paper's proxy; our played-forward backlogs. */
  readonly queue: "reported" | "tracked" | "played";
  /** Weights of the two terms against prefill time; 1: all are milliseconds of the same wait. */
  readonly networkWeight: number;
  readonly queueWeight: number;
  /** Of what already has its first token; heard only where the queue is tracked. */
  readonly runningFactor: number;
  /** Heard only where the queue is played. */
  readonly holderPatienceMs: number;
};

export const GORGO_LIKE: GorgoLike = {
  queue: "reported",
  networkWeight: 1,
  queueWeight: 1,
  runningFactor: 0,
  holderPatienceMs: 2_000,
};
export const GORGO_PROXY: GorgoLike = { ...GORGO_LIKE, queue: "tracked" };
export const GORGO_PLAYED: GorgoLike = { ...GORGO_LIKE, queue: "played" };

export const createGorgoLike = (arena: Arena, options: GorgoLike): Contender => {
  const index = fleetPrefixIndex(arena);
  const queue = queueFor(arena, options);
  const travelTo = createTravel(arena);
  const learns = learnsFrom(index);
  return {
    choose: (turn) => {
      let best: (Going & { readonly networkMs: number; readonly costMs: number }) | null = null;
      for (const region of eligibleRegions(arena)) {
        const { networkMs, arrivalAtMs } = travelTo(turn, region);
        const served = queue.serve(turn, region, index.match(region, turn.blocks, turn.promptTokens), arrivalAtMs);
        const costMs = options.networkWeight * networkMs + options.queueWeight * served.queueMs + served.workMs;
        if (best === null || costMs < best.costMs) best = { region, arrivalAtMs, served, networkMs, costMs };
      }
      if (best === null) return null;
      const { region, networkMs, served } = best;
      queue.sent(turn, best);
      const ttftMs = networkMs + served.queueMs + served.workMs;
      return { region, prediction: { queueMs: served.queueMs, ttftMs }, verdict: null };
    },
    onFirstToken: (turn, record) => {
      queue.firstToken(turn);
      learns.onFirstToken(turn, record);
    },
    onFinished: (turn, record) => {
      queue.ended(turn);
      learns.onFinished(turn, record);
    },
    onFailed: (turn, region) => {
      queue.ended(turn);
      learns.onFailed(turn, region);
    },
  };
};

const queueFor = (arena: Arena, { queue, runningFactor, holderPatienceMs }: GorgoLike): QueueEstimate => {
  switch (queue) {
    case "reported":
      return createReportedQueue(arena);
    case "tracked":
      return createTrackedQueue(arena, runningFactor);
    case "played":
      return createPlayedQueue(arena, holderPatienceMs);
  }
};
