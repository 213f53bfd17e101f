/** Whether a context that a region once held is still in its KV cache. */
import type { Holding } from "./conversation.ts";
import type { Placement, Replica } from "./placement.ts";

/**
 * Chance that a holding survives in an LRU cache: 1 ÷ (1 + (age ÷ T)⁴), where T = (capacity − pinned) ÷ new tokens per
 * second is how long the cache takes to write itself over. What is younger is there, what is older is not; how wide the step
 * is between comes from the rate's own changes, and from replicas that are not written to alike. Without what observation has taught about this placement: `heldCorrection`
 * is learnt against this, and multiplies it.
 *
 * @returns 0 to 1; where capacity or writing rate is unknown, 1 for a replica that was not restarted
 */
export const survivalOf = (holding: Holding, placement: Placement, nowMs: number): number =>
  survivalFraction(Math.max(0, nowMs - holding.atMs), placement) * livesOnFraction(holding, placement.replicas);

const survivalFraction = (ageMs: number, placement: Placement): number => {
  const { kvCapacityTokens, newTokensPerSecond } = placement;
  if (kvCapacityTokens === null || newTokensPerSecond === null || newTokensPerSecond <= 0) return 1;
  const evictableTokens = kvCapacityTokens - pinnedTokens(placement.replicas);
  if (evictableTokens <= 0) return 0;
  // In this order no pair of finite numbers, however odd, makes 0 × ∞.
  return ageMs === 0 ? 1 : 1 / (1 + ((ageMs / 1_000) * (newTokensPerSecond / evictableTokens)) ** STEP_POWER);
};

const pinnedTokens = (replicas: readonly Replica[]): number => {
  let sum = 0;
  for (const replica of replicas) sum += replica.kvPinnedTokens ?? 0;
  return sum;
};

/** From 4 to 8 no difference was measured; exp(−age ÷ T) made chat 0.7 % slower. */
const STEP_POWER = 4;

/** A restarted engine has an empty cache: the share of the replicas that may hold this which were running back then. */
const livesOnFraction = (holding: Holding, replicas: readonly Replica[]): number => {
  let possible = 0;
  let running = 0;
  for (const replica of replicas) {
    if (holding.replica !== null && replica.id !== holding.replica) continue;
    possible += 1;
    if (replica.startedAtMs === null || replica.startedAtMs <= holding.atMs) running += 1;
  }
  return possible === 0 ? 0 : running / possible;
};
