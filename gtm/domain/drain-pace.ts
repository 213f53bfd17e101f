/** How fast a drain may go: as the other regions can compute again what it moves, and never later than asked. */
import type { DrainSchedule } from "./drain-schedule.ts";

/** `spare`: as fast as the others' spare prefill allows. `even`: over the whole time. */
export type Pace = "spare" | "even";

/** A conversation that is to leave. */
export type Leaver = {
  readonly key: number;
  /** What its next turn would compute again elsewhere; 0 or more. */
  readonly recomputeTokens: number;
  /** What it competes for: its model. */
  readonly model: string;
};

export type PaceWish = {
  /** Unix epoch ms. */
  readonly startsAtMs: number;
  /** When all must have left, ms after the start; more than 0. */
  readonly overMs: number;
  readonly pace: Pace;
  readonly leavers: readonly Leaver[];
  /** Spare prefill of the other regions, tokens per second; 0: none has any, or nothing is known of them. */
  readonly spareOf: (model: string) => number;
};

export type Paced = {
  readonly schedule: DrainSchedule;
  /** How long it would take at the pace of the spare prefill, ms; null: nobody has any. More than asked: it is hurried. */
  readonly wantedMs: number | null;
};

/** The other half is for the turns that the other regions have of their own until then. */
const SPARE_SHARE = 0.5;
/** Enough to follow the sizes of conversations; the order is read by every GTM each second. */
const MOST_STEPS = 24;

/** Pure: the same conversations in any order make the same schedule. */
export const pacedDrain = ({ startsAtMs, overMs, pace, leavers, spareOf }: PaceWish): Paced => {
  const ordered = leavers.toSorted((a, b) => a.key - b.key);
  const bySpare = timesBySpare(ordered, spareOf);
  const wantedMs = bySpare.at(-1) ?? 0;
  const isKnown = Number.isFinite(wantedMs);
  const isSpared = pace === "spare" && isKnown && wantedMs <= overMs;
  const shape = pace === "spare" && isKnown ? bySpare : timesByTokens(ordered);
  const lastMs = shape.at(-1) ?? 0;
  const endsAfterMs = isSpared ? wantedMs : ordered.length === 0 ? 0 : overMs;
  const scale = lastMs > 0 ? endsAfterMs / lastMs : 0;
  const times = shape.map((ms) => ms * scale);
  return {
    schedule: { startsAtMs, endsAtMs: startsAtMs + Math.ceil(endsAfterMs), steps: stepsOf(ordered, times) },
    wantedMs: isKnown ? Math.ceil(wantedMs) : null,
  };
};

/** When each may leave, ms: once the spare prefill has computed it and those of its model before it. */
const timesBySpare = (ordered: readonly Leaver[], spareOf: PaceWish["spareOf"]): readonly number[] => {
  const sumMs = new Map<string, number>();
  let latestMs = 0;
  return ordered.map(({ model, recomputeTokens }) => {
    const rate = spareOf(model) * SPARE_SHARE;
    const ms = recomputeTokens === 0 ? 0 : rate > 0 ? (recomputeTokens / rate) * 1_000 : Number.POSITIVE_INFINITY;
    const sum = (sumMs.get(model) ?? 0) + ms;
    sumMs.set(model, sum);
    latestMs = Math.max(latestMs, sum);
    return latestMs;
  });
};

/** In proportion to what those before it and itself compute again; where that is nothing, one after another. */
const timesByTokens = (ordered: readonly Leaver[]): readonly number[] => {
  let sum = 0;
  return ordered.map(({ recomputeTokens }) => {
    sum += Math.max(1, recomputeTokens);
    return sum;
  });
};

const stepsOf = (ordered: readonly Leaver[], times: readonly number[]): DrainSchedule["steps"] => {
  const count = Math.min(MOST_STEPS, ordered.length);
  return Array.from({ length: count }, (_, at) => {
    const index = Math.ceil(((at + 1) * ordered.length) / count) - 1;
    // Rounded up, so that the conversation whose step it is leaves with it.
    const key = Math.ceil((ordered[index]?.key ?? 0) * 10_000) / 10_000;
    return [Math.floor(times[index] ?? 0), key] as const;
  });
};
