/** Upper bounds of vLLM's histograms, as its loggers have them. */

/** Seconds. */
export const TTFT_BOUNDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2_560,
];
/** Seconds; of gaps between tokens, and of their mean over a request. */
export const GAP_BOUNDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
/** Seconds; of a request's phases. */
export const PHASE_BOUNDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1_920, 7_680,
];
export const N_BOUNDS = [1, 2, 5, 10, 20];

/** Tokens: 1, 2, 5, 10 … up to the longest context. */
export const tokenBounds = (contextLimitTokens: number): readonly number[] => {
  const bounds: number[] = [];
  for (let power = 1; power <= contextLimitTokens; power *= 10) bounds.push(power, 2 * power, 5 * power);
  return bounds.filter((bound) => bound <= contextLimitTokens);
};
