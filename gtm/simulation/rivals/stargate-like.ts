/**
 * Stargate-like: of the first two regions in the conversation's weighted rendezvous order, the one with the least estimated
 * time to first token: round trip + queued tokens over throughput + prompt over throughput.
 *
 * Source: NVIDIA Stargate, github.com/NVIDIA/nvcf, src/libraries/rust/stargate/docs/load-balancer-configuration.md: the
 * estimate of `wait-and-widen` over a cache affinity group that the weighted order of `pulsar` makes, two sampled as
 * `power-of-n` does by default. It knows no caches; `affinityInputScale` is its discount for the group's prefill (1 by
 * default, 0.1 in its example). It is given the exact speed and, as the document has it, counts what it sent since a report.
 */
import type { Arena, Contender } from "../rival.ts";
import { rankedRegions } from "./consistent-hash.ts";
import { createReportedQueue } from "./reported-queue.ts";
import { createTravel } from "./travel.ts";

export type StargateLike = {
  /** How many of the order are compared. */
  readonly groupSize: number;
  /** 0 to 1: what part of the prompt is expected to be computed. */
  readonly affinityInputScale: number;
};

export const STARGATE_LIKE: StargateLike = { groupSize: 2, affinityInputScale: 1 };

export const createStargateLike = (arena: Arena, { groupSize, affinityInputScale }: StargateLike): Contender => {
  const queue = createReportedQueue(arena);
  const travelTo = createTravel(arena);
  return {
    choose: (turn) => {
      const offers = rankedRegions(turn, arena)
        .slice(0, groupSize)
        .map((region) => {
          const { networkMs, arrivalAtMs } = travelTo(turn, region);
          const cached = { tokens: turn.promptTokens * (1 - affinityInputScale), replica: null };
          const served = queue.serve(turn, region, cached, arrivalAtMs);
          return { region, arrivalAtMs, served, ttftMs: networkMs + served.queueMs + served.workMs };
        });
      const [first, ...others] = offers;
      if (first === undefined) return null;
      const best = others.reduce((least, one) => (one.ttftMs < least.ttftMs ? one : least), first);
      queue.sent(turn, best);
      return {
        region: best.region,
        prediction: { queueMs: best.served.queueMs, ttftMs: best.ttftMs },
        verdict: null,
      };
    },
    onFirstToken: queue.firstToken,
    onFinished: queue.ended,
    onFailed: queue.ended,
  };
};
