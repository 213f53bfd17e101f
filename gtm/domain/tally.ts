/** A mean that is learnt: what was observed, each observation fading with time, beside a prior that never does. Pure. */
import { bounded } from "./known.ts";

/** Observations and their weights, summed as they count at `atMs`. The order in which they came does not matter. */
export type Tally = {
  readonly weight: number;
  /** Σ weight × value. */
  readonly sum: number;
  /** Monotonic ms. */
  readonly atMs: number;
};

export type Observed = Pick<Tally, "weight" | "sum">;

/** How a quantity is learnt. */
export type Habit = {
  /** Observations count e times less after each of these. */
  readonly fadesMs: number;
  /** The prior counts as much as observations of this weight. */
  readonly priorWeight: number;
};

/**
 * What one round of observations may weigh, as a share of the prior's weight. So one round moves an estimate by at most a
 * fifth of the way to what it says, and by less the more was heard before.
 */
const ROUND_SHARE = 0.25;

/** @param observed one round's, together; what weighs more than a round may is scaled down */
export const tallied = (before: Tally | null, observed: Observed, nowMs: number, habit: Habit): Tally => {
  const weight = bounded(observed.weight) ?? 0;
  const sum = bounded(observed.sum) ?? 0;
  const most = habit.priorWeight * ROUND_SHARE;
  const scale = weight > most ? most / weight : 1;
  const standing = fadedTo(before, nowMs, habit);
  return { weight: standing.weight + weight * scale, sum: standing.sum + sum * scale, atMs: standing.atMs };
};

/** What nobody confirms any more counts less and less, until the prior is left. */
export const fadedTo = (tally: Tally | null, nowMs: number, { fadesMs }: Pick<Habit, "fadesMs">): Tally => {
  if (tally === null) return { weight: 0, sum: 0, atMs: nowMs };
  const left = Math.exp(-Math.max(0, nowMs - tally.atMs) / fadesMs);
  return { weight: tally.weight * left, sum: tally.sum * left, atMs: Math.max(nowMs, tally.atMs) };
};

/** @param tally null: nothing was observed. @returns between the prior and what was observed */
export const estimateOf = (tally: Tally | null, prior: number, { priorWeight }: Pick<Habit, "priorWeight">): number =>
  tally === null ? prior : (prior * priorWeight + tally.sum) / (priorWeight + tally.weight);

/** Enough to be heard beside other regions: one round. */
export const isHeard = (tally: Tally | null, { priorWeight }: Pick<Habit, "priorWeight">): boolean =>
  tally !== null && tally.weight >= priorWeight * ROUND_SHARE;

/**
 * What several regions say of one quantity that is not their own, made one: the median; between two in the middle, what is
 * nearest to the prior. So one region that lies leads no farther from the prior than an honest one beside it.
 *
 * @returns null: nobody says anything
 */
export const agreedOn = (values: readonly number[], prior: number): number | null => {
  const sorted = values.toSorted((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.floor(sorted.length / 2)];
  if (low === undefined || high === undefined) return null;
  return Math.min(high, Math.max(low, prior));
};
