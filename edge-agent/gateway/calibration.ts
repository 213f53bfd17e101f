/** A replica's prefill speed, learned from the first tokens that the gateway saw: what no metric of an engine says this well. */
import { ENOUGH_PREFILLS, LEAST_CONFIDENCE } from "../prefill-confidence.ts";
import { fitPrefill, isTelling, type Prefills } from "./prefill-fit.ts";
import { attentionOf, type PrefillSpeed } from "./replica-speed.ts";

/** What was computed of a prompt. @param end length of the whole context */
export type Computed = { readonly tokens: number; readonly end: number };

export type Calibration = {
  /**
   * A prefill that began and ended in sight.
   *
   * @returns to be told what was computed, which only the reply's end says; null: it does not, and the observation is void
   */
  readonly prefilled: (startedAtMs: number, endedAtMs: number) => (computed: Computed | null) => void;
  /** null: too few were seen lately, or they do not agree; then nobody is told a number. */
  readonly speed: (nowMs: number) => PrefillSpeed | null;
  /** min(1, prefills in the window that were not short ÷ 20); 0 where nothing is believed. */
  readonly confidence: (nowMs: number) => number;
  /** The process began anew, perhaps on another GPU. */
  readonly clear: () => void;
};

const WINDOW_MS = 600_000;
const MOST_KEPT = 200;
/** First tokens that come closer together were computed in one step of the engine: one observation of several prefills. */
const ONE_STEP_MS = 5;
/** A fit takes up to a millisecond. */
const REFIT_EVERY_MS = 5_000;

/** `open`: of its prefills, those of which is not known yet what they computed. */
type Observation = { -readonly [Field in keyof Prefills]: Prefills[Field] } & {
  endedAtMs: number;
  open: number;
  isVoid: boolean;
};

export const createCalibration = (): Calibration => {
  let seen: Observation[] = [];
  let fitted: { readonly atMs: number; readonly told: number; readonly speed: PrefillSpeed | null } | null = null;
  /** Observations that became whole so far. */
  let told = 0;

  const within = (nowMs: number): readonly Observation[] => {
    const first = seen[0];
    if (first !== undefined && first.endedAtMs < nowMs - WINDOW_MS)
      seen = seen.filter(({ endedAtMs }) => endedAtMs >= nowMs - WINDOW_MS);
    return seen.filter(({ open, isVoid, ms }) => open === 0 && !isVoid && ms > 0);
  };
  /** Who came a moment later waited for the same step: its own part of the time cannot be told apart. */
  const observationOf = (startedAtMs: number, endedAtMs: number): Observation => {
    const last = seen.at(-1);
    if (last !== undefined && last.endedAtMs === startedAtMs && endedAtMs - startedAtMs < ONE_STEP_MS) return last;
    const one = { count: 0, tokens: 0, attention: 0, ms: 0, endedAtMs, open: 0, isVoid: false };
    seen.push(one);
    if (seen.length > MOST_KEPT) seen.shift();
    return one;
  };
  const speed = (nowMs: number): PrefillSpeed | null => {
    // Until there is a number the next prefill may be the one that was missing.
    const isDue = fitted === null || fitted.speed === null || nowMs - fitted.atMs >= REFIT_EVERY_MS;
    if (fitted === null || (isDue && (told !== fitted.told || nowMs - fitted.atMs >= REFIT_EVERY_MS))) {
      const observations = within(nowMs);
      const isEnough = confidenceOf(observations) >= LEAST_CONFIDENCE;
      fitted = { atMs: nowMs, told, speed: isEnough ? fitPrefill(observations) : null };
    }
    return fitted.speed;
  };
  return {
    prefilled: (startedAtMs, endedAtMs) => {
      const one = observationOf(startedAtMs, endedAtMs);
      one.ms += endedAtMs - startedAtMs;
      one.endedAtMs = endedAtMs;
      one.open += 1;
      return (computed) => {
        one.open -= 1;
        told += 1;
        if (computed === null || !(computed.tokens > 0)) {
          one.isVoid = true;
          return;
        }
        one.count += 1;
        one.tokens += computed.tokens;
        one.attention += attentionOf(computed.tokens, computed.end);
      };
    },
    speed,
    confidence: (nowMs) => (speed(nowMs) === null ? 0 : confidenceOf(within(nowMs))),
    clear: () => {
      seen = [];
      fitted = null;
    },
  };
};

const confidenceOf = (observations: readonly Prefills[]): number =>
  Math.min(1, observations.filter(isTelling).reduce((sum, { count }) => sum + count, 0) / ENOUGH_PREFILLS);
