/** The spans in which ages stood still, gathered moment by moment. */
import type { Freeze } from "#gtm/domain/heard-report.ts";

export type AgeSpans = {
  /** @returns every span until now, the open one last; not overlapping */
  readonly look: (isFrozen: boolean, nowMs: number) => readonly Freeze[];
};

/** Older spans concern reports that have expired anyway. */
const MOST_SPANS = 32;

/**
 * @param onFrozen a span begins
 * @param onThawed it ended after so many milliseconds
 */
export const createAgeSpans = (options: {
  readonly before: readonly Freeze[];
  readonly onFrozen: () => void;
  readonly onThawed: (lastedMs: number) => void;
}): AgeSpans => {
  let spans = options.before;
  // A span that was open before we looked began earlier than anybody can say.
  let frozenAtMs: number | null = null;

  return {
    look: (isFrozen, nowMs) => {
      const open = spans.at(-1)?.toMs === null ? spans.at(-1) : undefined;
      if (isFrozen) frozenAtMs ??= nowMs;
      if (isFrozen && open === undefined) {
        spans = [...spans, { fromMs: nowMs, toMs: null }].slice(-MOST_SPANS);
        options.onFrozen();
      }
      if (!isFrozen && open !== undefined) {
        spans = [...spans.slice(0, -1), { fromMs: open.fromMs, toMs: nowMs }];
        options.onThawed(nowMs - (frozenAtMs ?? nowMs));
      }
      if (!isFrozen) frozenAtMs = null;
      return spans;
    },
  };
};
