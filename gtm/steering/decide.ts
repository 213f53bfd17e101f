/** Picks the region: home, unless the law of moving allows a cheaper one; the cheapest where there is no home. */
import { isHomeOrdered } from "#gtm/domain/conversation-move.ts";
import type { Candidate, Considered, Verdict } from "#gtm/domain/decision.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { RegionId } from "#shared/ids.ts";
import { byHash, cheapest, runnerUpTo } from "./choose.ts";
import { leastSavingMs, type MoveDemand, marginOf, mayMove, NO_DEMAND, savedMs } from "./persistence.ts";
import type { Policy } from "./policy.ts";

export type Outcome = {
  readonly verdict: Verdict;
  /** What a move away from home had to save; where there is no home, what the choice would have to lead by. */
  readonly marginMs: number;
};

/**
 * @param considered in any order; the order decides nothing
 * @param demand what a move must save where that is more than the margin
 */
export const decide = (
  considered: readonly Considered[],
  turn: Turn,
  policy: Policy,
  demand: MoveDemand = NO_DEMAND,
): Outcome => {
  const candidates = considered.filter((one): one is Candidate => one.kind === "candidate");
  if (candidates.length === 0) return { verdict: { kind: "unserved" }, marginMs: policy.marginMs };
  const home = candidates.find((one) => one.region === turn.home);
  if (home !== undefined) return stayOrMove(home, candidates, turn, { policy, demand });
  return turn.home === null || turn.kind === "cell"
    ? placed(cheapest(candidates, turn.hashKey, policy), candidates, policy)
    : displaced(turn.home, candidates, turn, policy);
};

type Law = { readonly policy: Policy; readonly demand: MoveDemand };

const stayOrMove = (home: Candidate, candidates: readonly Candidate[], turn: Turn, law: Law): Outcome => {
  const { policy, demand } = law;
  const isBetter = (one: Candidate): boolean =>
    one !== home && mayMove(home, one, policy) && savedMs(home, one, policy) >= leastSavingMs(demand, one);
  // A name never moves by a query: moves are decided where turns are seen. Nor does what somebody ordered here before it came.
  const better = turn.kind === "label" || isHomeOrdered(turn) ? [] : candidates.filter(isBetter);
  const chosen = better.length === 0 ? home : cheapest(better, turn.hashKey, policy);
  const other = chosen === home ? runnerUpTo(home, candidates) : chosen;
  const marginMs = Math.max(marginOf(home.cost.totalMs, policy), other === null ? 0 : leastSavingMs(demand, other));
  const { region, runnerUp, leadMs } = chosenOver(chosen, candidates);
  // What a cell keeps is an answer, not a conversation.
  if (turn.kind === "cell") return { verdict: { kind: "placed", region, runnerUp, leadMs }, marginMs };
  if (chosen === home) return { verdict: { kind: "pinned", region, runnerUp, leadMs }, marginMs };
  const saved = savedMs(home, chosen, policy);
  return { verdict: { kind: "migrated", region, runnerUp, leadMs, from: home.region, savedMs: saved }, marginMs };
};

const placed = (chosen: Candidate, candidates: readonly Candidate[], policy: Policy): Outcome => {
  const { region, runnerUp, leadMs } = chosenOver(chosen, candidates);
  return {
    verdict: { kind: "placed", region, runnerUp, leadMs },
    marginMs: marginOf(chosen.cost.totalMs, policy),
  };
};

const displaced = (from: RegionId, candidates: readonly Candidate[], turn: Turn, policy: Policy): Outcome => {
  // Nothing fresh to compare by, or a name that must get the same answer whoever asks: the hash spreads them by spare rate.
  const isBlind = candidates.every((one) => (one.reportAgeMs ?? Number.POSITIVE_INFINITY) >= policy.blindAfterMs);
  const chosen =
    isBlind || turn.kind === "label" ? byHash(candidates, turn.hashKey) : cheapest(candidates, turn.hashKey, policy);
  return {
    verdict: { kind: "displaced", ...chosenOver(chosen, candidates), from },
    marginMs: marginOf(chosen.cost.totalMs, policy),
  };
};

const chosenOver = (chosen: Candidate, candidates: readonly Candidate[]) => {
  const runnerUp = runnerUpTo(chosen, candidates);
  return {
    region: chosen.region,
    runnerUp: runnerUp?.region ?? null,
    leadMs: runnerUp === null ? null : runnerUp.cost.totalMs - chosen.cost.totalMs,
  };
};
