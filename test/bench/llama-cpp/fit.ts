/** The GTM's formula of prefill time fitted to measurements, and how far it is off those it has not seen. */
import { type PrefillSpeed, prefillMs } from "#gtm/domain/serving.ts";

/** First tokens that were waited for. */
export type Measured = { readonly uncachedTokens: number; readonly promptTokens: number; readonly ttftMs: number };

/** Least squares of relative errors, so that short prompts count as much as long ones. */
export const fitted = (measured: readonly Measured[]): PrefillSpeed => {
  let [xx, xy, yy, xt, yt] = [0, 0, 0, 0, 0];
  for (const { uncachedTokens, promptTokens, ttftMs } of measured) {
    const x = uncachedTokens / ttftMs;
    const y = (uncachedTokens * (promptTokens - uncachedTokens / 2)) / ttftMs;
    xx += x * x;
    xy += x * y;
    yy += y * y;
    xt += x;
    yt += y;
  }
  const determinant = xx * yy - xy * xy;
  const attnMs = determinant > 0 ? (xx * yt - xy * xt) / determinant : 0;
  // Attention costs nothing less than nothing.
  return attnMs <= 0 ? { linMs: xt / xx, attnMs: 0 } : { linMs: (xt - attnMs * xy) / xx, attnMs };
};

/** @returns errors as shares of what was measured, the smallest first */
export const errorsOf = (speed: PrefillSpeed, measured: readonly Measured[]): readonly number[] =>
  measured
    .map(
      ({ uncachedTokens, promptTokens, ttftMs }) =>
        Math.abs(prefillMs(speed, uncachedTokens, promptTokens) - ttftMs) / ttftMs,
    )
    .toSorted((a, b) => a - b);
