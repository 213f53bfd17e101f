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

/** What a move must save, beside the margin. */
export type MoveDemand = {
  /** ms, 0 or more */
  readonly savingMs: number;
  /**
   * Whether it will stand for an hour. Then it must save what waits in the new region once more, since its clients will wait there too:
   * at 80 % of what a fleet can do a tenth more doubles a queue. Without it cells all went where least waited just then, and ten
   * seconds waited there soon after.
   */
  readonly isForAnHour: boolean;
};

export const NO_DEMAND: MoveDemand = { savingMs: 0, isForAnHour: false };

/** @returns ms */
export const leastSavingMs = ({ savingMs, isForAnHour }: MoveDemand, to: Candidate): number =>
  Math.max(savingMs, isForAnHour ? to.cost.queueMs : 0);
