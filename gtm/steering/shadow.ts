/** What a pool in shadow is answered with: where a turn would have gone without affinity; what steering would say stands beside it. */
import type { Candidate, Considered, Verdict } from "#gtm/domain/decision.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import { byHash, runnerUpTo } from "./choose.ts";
import type { Policy } from "./policy.ts";

/**
 * The nearest region that may serve: contexts and queues do not count, exclusions do (health, drains, residency, overrides).
 * Round trips within `bucketMs` of the least are equal, and the hash decides among them.
 *
 * @returns always `placed`, also where a conversation has a home; null: no region may serve
 */
export const withoutAffinity = (
  considered: readonly Considered[],
  turn: Pick<Turn, "hashKey">,
  policy: Pick<Policy, "bucketMs">,
): Verdict | null => {
  const candidates = considered.filter((one): one is Candidate => one.kind === "candidate");
  if (candidates.length === 0) return null;
  const leastMs = Math.min(...candidates.map(({ plan }) => plan.rttMs));
  const nearest = byHash(
    candidates.filter(({ plan }) => plan.rttMs <= leastMs + policy.bucketMs),
    turn.hashKey,
  );
  const runnerUp = runnerUpTo(nearest, candidates);
  return {
    kind: "placed",
    region: nearest.region,
    runnerUp: runnerUp?.region ?? null,
    leadMs: runnerUp === null ? null : runnerUp.cost.totalMs - nearest.cost.totalMs,
  };
};
