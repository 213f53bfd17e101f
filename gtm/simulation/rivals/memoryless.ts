/** A rival that is told nothing afterwards: its choice is all there is to it. */
import type { Asked, Contender } from "../rival.ts";

export const memoryless = (choose: (turn: Asked) => number | null): Contender => ({
  choose: (turn) => chosen(choose(turn)),
  ...NOTHING_TOLD,
});

/** A choice that predicts nothing. */
export const chosen = (region: number | null): ReturnType<Contender["choose"]> =>
  region === null ? null : { region, prediction: null, verdict: null };

export const NOTHING_TOLD: Omit<Contender, "choose"> = {
  onFirstToken: () => {},
  onFinished: () => {},
  onFailed: () => {},
};
