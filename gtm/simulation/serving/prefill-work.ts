/** Where the tokens went that prefill has computed, and what it still has to compute. */
import type { Engine } from "./engine-state.ts";
import { besideMs } from "./pace.ts";
import { lanePace, msOf } from "./prefill-lane.ts";

/** Fractions of a token while a prefill is under way. */
export type PrefillWork = {
  readonly allTokens: number;
  /** Of these for requests that had answered already when they were preempted. */
  readonly recomputedTokens: number;
  /** Of these for requests that were aborted, preempted or lost before their first token. */
  readonly abandonedTokens: number;
  readonly preemptions: number;
};

export const NO_WORK: PrefillWork = { allTokens: 0, recomputedTokens: 0, abandonedTokens: 0, preemptions: 0 };

export const addedUp = (earlier: PrefillWork, engine: Engine): PrefillWork => ({
  allTokens: earlier.allTokens + engine.prefilledTokens,
  recomputedTokens: earlier.recomputedTokens + engine.recomputedTokens,
  abandonedTokens: earlier.abandonedTokens + engine.abandonedTokens,
  preemptions: earlier.preemptions + engine.preemptions,
});

/** Of an engine that dies: nothing of what is in prefill will be of use. */
export const workLost = (earlier: PrefillWork, engine: Engine): PrefillWork => {
  const work = addedUp(earlier, engine);
  const under = engine.lane.reduce((sum, { from, at }) => sum + at - from, 0);
  return { ...work, abandonedTokens: work.abandonedTokens + under };
};

/** Time that prefill needs for all that is here, at the pace that decoding leaves it now; 0 or more. */
export const waitingMsIn = (engine: Engine): number => {
  const { lane, options, queuedMs } = engine;
  const loadMs = Math.max(0, engine.readyAtMs - engine.nowMs);
  if (lane.length === 0 && queuedMs === 0) return loadMs;
  const beside = besideMs(engine);
  const left = lane.reduce((sum, { at, to }) => sum + to - at, 0);
  const underWayMs = left === 0 ? 0 : msOf(lanePace(lane, options.speed, beside), left);
  return loadMs + underWayMs + queuedMs * (1 + beside / options.speed.linMs);
};
