/** The cheapest of several regions, and who wins where costs cannot tell them apart. */
import type { Candidate } from "#gtm/domain/decision.ts";
import { rendezvousDraw } from "#gtm/domain/hash.ts";
import type { Policy } from "./policy.ts";

/**
 * Totals within `bucketMs` of the least are equal, and among equals the weighted rendezvous hash decides: the same on
 * every GTM, whatever the order of the regions.
 *
 * @param candidates at least one
 */
export const cheapest = (candidates: readonly Candidate[], hashKey: string, policy: Policy): Candidate => {
  let leastMs = Number.POSITIVE_INFINITY;
  for (const one of candidates) leastMs = Math.min(leastMs, one.cost.totalMs);
  const equals = candidates.filter((one) => one.cost.totalMs <= leastMs + policy.bucketMs);
  const winner = byHash(equals, hashKey);
  return winner.isTrusted ? winner : lessQueued(winner, candidates, hashKey);
};

/** Weighted by spare prefill rate. @param candidates at least one */
export const byHash = (candidates: readonly Candidate[], hashKey: string): Candidate => {
  const [first, ...others] = candidates;
  if (first === undefined) throw new Error("byHash: no candidate to choose from");
  if (others.length === 0) return first;
  const drawOf = (one: Candidate): number => rendezvousDraw(hashKey, one.region, one.sparePrefillTokensPerSecond);
  let winner = first;
  let winnerDraw = drawOf(first);
  for (const one of others) {
    const draw = drawOf(one);
    if (draw > winnerDraw || (draw === winnerDraw && one.region < winner.region)) {
      winner = one;
      winnerDraw = draw;
    }
  }
  return winner;
};

/** Where the winner's rate is a guess, its total is one too: power of two choices, by hash, on the queue. */
const lessQueued = (winner: Candidate, candidates: readonly Candidate[], hashKey: string): Candidate => {
  const others = candidates.filter((one) => one !== winner);
  if (others.length === 0) return winner;
  const other = byHash(others, hashKey);
  return other.cost.queueMs < winner.cost.queueMs ? other : winner;
};

/** The least total of all but one region; null: there is no other. Of equals the first name, so that replays agree. */
export const runnerUpTo = (chosen: Candidate, candidates: readonly Candidate[]): Candidate | null => {
  let best: Candidate | null = null;
  for (const one of candidates) {
    if (one.region === chosen.region) continue;
    const isBetter =
      best === null ||
      one.cost.totalMs < best.cost.totalMs ||
      (one.cost.totalMs === best.cost.totalMs && one.region < best.region);
    if (isBetter) best = one;
  }
  return best;
};
