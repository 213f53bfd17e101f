/** Of all queues that might be longer or shorter, the least change after which the law says another region. */
import type { Candidate } from "#gtm/domain/decision.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { RegionId } from "#shared/ids.ts";
import { decide } from "./decide.ts";
import { marginOf, savedMs } from "./persistence.ts";
import type { Policy } from "./policy.ts";

export type QueueChange = { readonly region: RegionId; readonly byMs: number };

/**
 * As one queue grows or shrinks, the choice changes only where a total meets another, their bucket or the margin: each of
 * these points that is nearer than what is known is tried, by the code that decides.
 *
 * @param known a change that flips the choice
 * @param chosen the region that was decided on
 */
export const leastFlip = (
  known: QueueChange,
  chosen: RegionId,
  candidates: readonly Candidate[],
  turn: Turn,
  policy: Policy,
): QueueChange => {
  // Just past the point, beyond the rounding of doubles.
  const pastMs = 1e-9 * Math.max(1, ...candidates.map(({ cost }) => cost.totalMs));
  const nearer = candidates
    .flatMap((one) => pointsOf(one, candidates, turn, policy).map((byMs) => ({ one, byMs })))
    .filter(({ one, byMs }) => Math.abs(byMs) < Math.abs(known.byMs) && byMs >= -one.cost.queueMs)
    .sort((a, b) => Math.abs(a.byMs) - Math.abs(b.byMs));
  const found = nearer.find(({ one, byMs }) => {
    const changed = withQueue(one, byMs + Math.sign(byMs) * pastMs);
    const { verdict } = decide(
      candidates.map((other) => (other === one ? changed : other)),
      turn,
      policy,
    );
    return verdict.kind !== "unserved" && verdict.region !== chosen;
  });
  return found === undefined ? known : { region: found.one.region, byMs: found.byMs };
};

/** By how much one's queue has to change to meet another's total, its bucket, or the margin between home and another. */
const pointsOf = (one: Candidate, candidates: readonly Candidate[], turn: Turn, policy: Policy): readonly number[] => {
  const home = candidates.find(({ region }) => region === turn.home);
  const points: number[] = [];
  for (const other of candidates) {
    if (other === one) continue;
    const differenceMs = other.cost.totalMs - one.cost.totalMs;
    points.push(differenceMs, differenceMs - policy.bucketMs, differenceMs + policy.bucketMs);
    if (one === home) points.push(...marginPoints(one, other, policy));
  }
  if (home !== undefined && one !== home) {
    points.push(savedMs(home, one, policy) - marginOf(home.cost.totalMs, policy));
  }
  return points.filter((byMs) => byMs !== 0);
};

/** The margin is a fixed one, or grows with home's total. */
const marginPoints = (home: Candidate, other: Candidate, policy: Policy): readonly number[] => {
  const saved = savedMs(home, other, policy);
  const fraction = policy.marginFraction;
  return [policy.marginMs - saved, (fraction * home.cost.totalMs - saved) / (1 - fraction)];
};

const withQueue = (one: Candidate, byMs: number): Candidate => {
  const { cost } = one;
  const changed = { queueMs: cost.queueMs + byMs, predictedTtftMs: cost.predictedTtftMs + byMs };
  return { ...one, cost: { ...cost, ...changed, totalMs: cost.totalMs + byMs } };
};
