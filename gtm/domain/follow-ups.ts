/** pNext and reuse: how many turns are followed by another, and how much of what is held those use again. */
import { agreedOn, estimateOf, fadedTo, type Habit, isHeard, type Observed, type Tally, tallied } from "./tally.ts";

/** Weights are turns. */
export const NEXT_TURN_HABIT: Habit = { fadesMs: 7_200_000, priorWeight: 40 };
/** Weights are held tokens. */
export const REUSE_HABIT: Habit = { fadesMs: 3_600_000, priorWeight: 80_000 };
/** A younger context is surely there still: what is not cached of it was not asked for again. */
export const SURELY_HELD = 0.9;

/** Turns of one minute of the monotonic clock, and how many of them were followed so far. */
type Minute = { readonly minute: number; readonly turns: number; readonly followed: number };

/**
 * Turns of one pool in one region. Whether a turn is followed is known when the pin's time is over, and is counted then:
 * those that are followed soon must not count before those that are not followed at all.
 */
export type FollowUps = {
  /** In the order of time, none older than the pin's time: an array, since each turn makes a new one. */
  readonly open: readonly Minute[];
  readonly known: Tally | null;
};

export const NO_FOLLOW_UPS: FollowUps = { open: [], known: null };

const MINUTE_MS = 60_000;

export const withTurn = (before: FollowUps, atMs: number): FollowUps => counted(before, atMs, 1, 0);

/** @param atMs of the turn that was followed */
export const withFollowUp = (before: FollowUps, atMs: number): FollowUps => counted(before, atMs, 0, 1);

const counted = ({ open, known }: FollowUps, atMs: number, turns: number, followed: number): FollowUps => {
  const minute = Math.floor(atMs / MINUTE_MS);
  let at = open.length;
  while (at > 0 && (open[at - 1]?.minute ?? 0) >= minute) at -= 1;
  const before = open[at];
  return before?.minute === minute
    ? { known, open: open.with(at, { minute, turns: before.turns + turns, followed: before.followed + followed }) }
    : { known, open: open.toSpliced(at, 0, { minute, turns, followed }) };
};

/** What is old enough to be known is taken into account. @returns the same where nothing is */
export const maturedAt = (before: FollowUps, nowMs: number, pinMs: number): FollowUps => {
  const isOpen = ({ minute }: Minute): boolean => (minute + 1) * MINUTE_MS + pinMs > nowMs;
  if (before.open.every(isOpen)) return before;
  let known = before.known;
  for (const one of before.open) {
    const observed = { weight: one.turns, sum: Math.min(one.followed, one.turns) };
    if (!isOpen(one)) known = tallied(known, observed, nowMs, NEXT_TURN_HABIT);
  }
  return { known, open: before.open.filter(isOpen) };
};

/** @param byRegion one a region, of one pool. @returns 0 to 1; null: nobody has seen enough */
export const nextTurnFractionOf = (byRegion: readonly FollowUps[], prior: number, nowMs: number): number | null =>
  fractionOf(
    byRegion.map(({ known }) => fadedTo(known, nowMs, NEXT_TURN_HABIT)),
    prior,
    NEXT_TURN_HABIT,
  );

/** One turn that came back while its context was surely held. */
export const reuseObserved = (heldTokens: number, cachedTokens: number): Observed => ({
  weight: heldTokens,
  sum: Math.min(cachedTokens, heldTokens),
});

/** @param byRegion one a region, of one pool. @returns 0 to 1; null: nobody has seen enough */
export const reuseFractionOf = (byRegion: readonly (Tally | null)[], prior: number): number | null =>
  fractionOf(byRegion, prior, REUSE_HABIT);

const fractionOf = (tallies: readonly (Tally | null)[], prior: number, habit: Habit): number | null => {
  const heard = tallies.filter((tally) => isHeard(tally, habit));
  const agreed = agreedOn(
    heard.map((tally) => estimateOf(tally, prior, habit)),
    prior,
  );
  return agreed === null ? null : Math.min(1, Math.max(0, agreed));
};
