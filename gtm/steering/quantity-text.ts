/** Quantities as people read them in sentences. */

/** "80 ms", "1.24 s" */
export const formatMs = (ms: number): string =>
  Math.abs(ms) < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;

/** "18 432 tokens" */
export const formatTokens = (tokens: number): string =>
  `${Math.round(tokens)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, " ")} tokens`;
