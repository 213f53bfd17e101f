/**
 * How the chance that a conversation comes back falls while it is idle, learnt from those that did and those that did not:
 * a chat that was left ten minutes ago is over more likely than one left just now, an agent's is not. One estimate a model.
 */

export type ReturnChance = {
  /** Ages are told apart by steps of this length. */
  readonly stepMs: number;
  /** A conversation had another turn after so long, no longer than the pin's time. */
  readonly returned: (idleMs: number) => void;
  /** The pin's time is over, and there was none. */
  readonly stayedAway: () => void;
  /**
   * @param open conversations that are idle now, by step: they have not returned so far, or those that return soon would
   * count before those that never do
   * @returns one a step, 0 to 1: the chance of a return within the pin's time, against that of a conversation left just now
   */
  readonly byStep: (open: ArrayLike<number>) => readonly number[];
};

export const RETURN_STEPS = 60;

/** Before anything is seen: three of four return, after 150 s on average, between chats and agents; counted as 40 conversations. */
const PRIOR = { conversations: 40, returns: 0.75, meanSteps: 10 };
/** Beyond so many all count half, so that habits may change. */
const MOST_REMEMBERED = 4_000;

/** @param pinMs more than 0 */
export const createReturnChance = (pinMs: number): ReturnChance => {
  const stepMs = pinMs / RETURN_STEPS;
  const returns = new Float64Array(RETURN_STEPS);
  /** How many were still away when a step began. */
  const away = new Float64Array(RETURN_STEPS);
  let remembered = 0;
  const count = (until: number, weight: number): void => {
    for (let step = 0; step <= until; step++) away[step] = (away[step] ?? 0) + weight;
    remembered += weight;
    if (remembered <= MOST_REMEMBERED) return;
    remembered /= 2;
    for (let step = 0; step < RETURN_STEPS; step++) {
      away[step] = (away[step] ?? 0) / 2;
      returns[step] = (returns[step] ?? 0) / 2;
    }
  };
  const returnIn = (step: number, weight: number): void => {
    count(step, weight);
    returns[step] = (returns[step] ?? 0) + weight;
  };
  for (let step = 0; step < RETURN_STEPS; step++) {
    const share = Math.exp(-step / PRIOR.meanSteps) - Math.exp(-(step + 1) / PRIOR.meanSteps);
    returnIn(step, PRIOR.conversations * PRIOR.returns * share);
  }
  count(RETURN_STEPS - 1, PRIOR.conversations * (1 - PRIOR.returns));

  return {
    stepMs,
    returned: (idleMs) => returnIn(Math.min(RETURN_STEPS - 1, Math.max(0, Math.floor(idleMs / stepMs))), 1),
    stayedAway: () => count(RETURN_STEPS - 1, 1),
    byStep: (open) => {
      const stillAway = chancesAway(returns, away, open);
      const atEnd = stillAway[RETURN_STEPS] ?? 0;
      const chanceAt = (step: number): number => 1 - atEnd / (stillAway[step] ?? 1);
      const first = chanceAt(0);
      const chances: number[] = [];
      for (let step = 0; step < RETURN_STEPS; step++) {
        chances.push(first <= 0 ? 1 : Math.min(1, Math.max(0, chanceAt(step) / first)));
      }
      return chances;
    },
  };
};

/** Kaplan and Meier's estimate: the chance of being away still at each step's beginning, and at the last one's end. */
const chancesAway = (returns: Float64Array, away: Float64Array, open: ArrayLike<number>): ArrayLike<number> => {
  let older = 0;
  const passed = new Float64Array(RETURN_STEPS);
  for (let step = RETURN_STEPS - 1; step >= 0; step--) {
    // One that is in a step now has not passed it; half of them on average would have returned in it so far.
    passed[step] = older + (open[step] ?? 0) / 2;
    older += open[step] ?? 0;
  }
  const chances = new Float64Array(RETURN_STEPS + 1);
  chances[0] = 1;
  let chance = 1;
  for (let step = 0; step < RETURN_STEPS; step++) {
    chance *= 1 - (returns[step] ?? 0) / ((away[step] ?? 1) + (passed[step] ?? 0));
    chances[step + 1] = chance;
  }
  return chances;
};
