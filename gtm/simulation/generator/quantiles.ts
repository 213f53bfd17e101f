/** A distribution as its quantiles: measured ones have tails that no formula with two parameters keeps. */
import type { Dice } from "../dice.ts";

export type Quantiles = {
  /** Shares of the draws, 0 to 1, rising. */
  readonly shares: readonly number[];
  /** What that share of the draws is at most; as many, not falling. */
  readonly values: readonly number[];
};

/** @param pairs share and value, from share 0 to share 1 */
export const quantiles = (...pairs: readonly (readonly [share: number, value: number])[]): Quantiles => ({
  shares: pairs.map(([share]) => share),
  values: pairs.map(([, value]) => value),
});

/** Between two quantiles straight in the logarithm where both are positive, as heavy tails need; else straight. */
export const valueAt = ({ shares, values }: Quantiles, share: number): number => {
  let at = 1;
  while (at < shares.length - 1 && share > (shares[at] ?? 1)) at++;
  const before = shares[at - 1] ?? 0;
  const part = (share - before) / ((shares[at] ?? 1) - before);
  const low = values[at - 1] ?? 0;
  const high = values[at] ?? low;
  return low > 0 ? low * (high / low) ** part : low + part * (high - low);
};

export const drawn = (dice: Dice, from: Quantiles): number => valueAt(from, dice());

/** The same, as a whole number. */
export const drawnWhole = (dice: Dice, from: Quantiles): number => Math.round(valueAt(from, dice()));
