/** How fast a replica prefills: as measured, as last measured, or as the operator says. */
import { ENOUGH_PREFILLS, LEAST_CONFIDENCE, TELLING_TOKENS } from "./prefill-confidence.ts";
import type { PrefillRate, ReplicaRates } from "./rates.ts";

export type Speed = {
  /** Computed prompt tokens per second of prefill time; more than 0. */
  readonly tokensPerSecond: number;
  /** 0 to 1: how much the number rests on. */
  readonly confidence: number;
};

export const measuredSpeed = ({ prefill }: ReplicaRates): Speed | null =>
  prefill === null ? null : { tokensPerSecond: prefill.tokensPerSecond, confidence: confidenceOf(prefill) };

/** However many short ones: each is wrong in the same direction. */
const confidenceOf = ({ prefills, meanTokens }: PrefillRate): number =>
  Math.min(1, prefills / ENOUGH_PREFILLS) * Math.min(1, meanTokens / TELLING_TOKENS);

/** The newest measurement that was more than a guess; it stays true while the replica idles. */
export const lastTrusted = (measured: Speed | null, before: Speed | null): Speed | null =>
  measured !== null && measured.confidence >= LEAST_CONFIDENCE ? measured : before;

/** @param configuredTokensPerSecond an operator vouches for it; null: nobody does */
export const speedInUse = (
  measured: Speed | null,
  trusted: Speed | null,
  configuredTokensPerSecond: number | null,
): Speed | null => {
  if (trusted !== null) return trusted;
  return configuredTokensPerSecond === null ? measured : { tokensPerSecond: configuredTokensPerSecond, confidence: 1 };
};

/** What a replica of which nothing is known does: what its like do. */
export const meanSpeed = (speeds: readonly (Speed | null)[]): Speed | null => {
  const known = speeds.filter((speed) => speed !== null);
  if (known.length === 0) return null;
  const sum = known.reduce((total, speed) => ({
    tokensPerSecond: total.tokensPerSecond + speed.tokensPerSecond,
    confidence: total.confidence + speed.confidence,
  }));
  return { tokensPerSecond: sum.tokensPerSecond / known.length, confidence: sum.confidence / known.length };
};

/** Attention costs as much as everything else at this context length, where only a rate is known. */
const CONTEXT_WHERE_ATTENTION_EQUALS_LINEAR = 131_072;

/** The GTM's formula of prefill time, from a rate alone: ms per token, and ms per token². */
export const prefillCoefficients = ({ tokensPerSecond }: Speed): { linMs: number; attnMs: number } => {
  const linMs = 1_000 / tokensPerSecond;
  return { linMs, attnMs: (2 * linMs) / CONTEXT_WHERE_ATTENTION_EQUALS_LINEAR };
};
