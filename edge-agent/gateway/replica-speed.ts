/** How long a replica takes to prefill: the GTM's formula, with the coefficients that are measured beside the engine. */

export type PrefillSpeed = {
  /** Of every prefill, however short: the engine's step, the way there and back. 0 or more. */
  readonly fixedMs: number;
  /** ms per token, more than 0. */
  readonly linMs: number;
  /** ms per token²; 0 or more. */
  readonly attnMs: number;
};

/** Attention costs as much as everything else at this context length, where only a rate is known. */
const CONTEXT_WHERE_ATTENTION_EQUALS_LINEAR = 131_072;

/** Attention's part, where a fit cannot tell it apart. @param linMs ms per token */
export const usualAttnMs = (linMs: number): number => (2 * linMs) / CONTEXT_WHERE_ATTENTION_EQUALS_LINEAR;

/** @param tokensPerSecond more than 0 */
export const speedOfRate = (tokensPerSecond: number): PrefillSpeed => ({
  fixedMs: 0,
  linMs: 1_000 / tokensPerSecond,
  attnMs: usualAttnMs(1_000 / tokensPerSecond),
});

/** What attention looks back on, summed over the tokens: n · (end − n/2). @param end length of the context when they are done */
export const attentionOf = (tokens: number, end: number): number => tokens * Math.max(0, end - tokens / 2);

/** @param tokens to compute, 0 or more @param end length of the whole context; at least `tokens` */
export const prefillMs = ({ fixedMs, linMs, attnMs }: PrefillSpeed, tokens: number, end: number): number =>
  fixedMs + linMs * tokens + attnMs * attentionOf(tokens, end);
