/**
 * The greedy oracle: what caches really hold, how long replicas really queue, what is on its way, and round trips as they
 * are; the region that serves this turn soonest. One decision ahead: it does not see what a choice costs the turns after it,
 * and loses to plain hashing where that matters.
 */
import type { Arena, Contender } from "../rival.ts";
import { eligibleRegions } from "./eligible.ts";
import { createTruth, type TrueOffer, type Truth } from "./truth.ts";

export const createOracle = (arena: Arena): Contender => {
  const truth: Truth = createTruth(arena);
  return {
    choose: (turn) => {
      let best: TrueOffer | null = null;
      for (const region of eligibleRegions(arena)) {
        const offer = truth.offerOf(turn, region);
        if (best === null || offer.ttftMs < best.ttftMs) best = offer;
      }
      if (best === null) return null;
      truth.sent(best);
      return { region: best.region, prediction: { queueMs: best.queueMs, ttftMs: best.ttftMs }, verdict: null };
    },
    onFirstToken: () => {},
    onFinished: () => {},
    onFailed: () => {},
  };
};
