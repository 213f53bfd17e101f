/** Chance that can be repeated: a small seeded generator, and the distributions that workloads are drawn from. */

/** Uniform, 0 (included) to 1 (excluded). */
export type Dice = () => number;

/** mulberry32: 32 bits of state, enough for simulations of some million draws. Not for secrets. */
export const createDice = (seed: number): Dice => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
};

/** Standard normal quantile of 0.9. */
const Z90 = 1.2815515655446004;

/** Log-normal, given by what measurements are usually given by. @param p90 at least p50; both above 0 */
export const logNormal = (dice: Dice, p50: number, p90: number): number => {
  // Box and Muller; 1 − u is never 0.
  const normal = Math.sqrt(-2 * Math.log(1 - dice())) * Math.cos(2 * Math.PI * dice());
  return p50 * Math.exp((normal * Math.log(p90 / p50)) / Z90);
};

/** Picks by weight. @param weights not all 0 @returns an index */
export const pickWeighted = (dice: Dice, weights: readonly number[]): number => {
  let left = dice() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return weights.length - 1;
};
