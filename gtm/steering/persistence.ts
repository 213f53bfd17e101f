/** The law of moving: a conversation leaves home only for a region that is cheaper by more than the margin. */
import type { Candidate } from "#gtm/domain/decision.ts";
import type { Policy } from "./policy.ts";

/** How much a move away from this home must save, ms. */
export const marginOf = (homeTotalMs: number, policy: Policy): number =>
  Math.max(policy.marginMs, policy.marginFraction * homeTotalMs);

/**
 * What moving saves: the difference of the totals and, where the policy counts later turns, of their round trips.
 * Queues and prefill of later turns never count: measured, they amplify.
 */
export const savedMs = (home: Candidate, other: Candidate, policy: Policy): number =>
  home.cost.totalMs - other.cost.totalMs + policy.laterTurns * (home.plan.rttMs - other.plan.rttMs);

/** Whether the law allows the move. Where either rate is a guess the pin is kept. */
export const mayMove = (home: Candidate, other: Candidate, policy: Policy): boolean =>
  home.isTrusted &&
  other.isTrusted &&
  other.cost.totalMs <= home.cost.totalMs &&
  savedMs(home, other, policy) >= marginOf(home.cost.totalMs, policy);
