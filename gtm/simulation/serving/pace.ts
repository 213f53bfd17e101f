/** What happens next in an engine, and what passes until then. */
import { passTime, tokensToLeave } from "./decode-batch.ts";
import type { Engine, NextEvent } from "./engine-state.ts";
import { tokensToGrowth } from "./growth.ts";
import { advanceLane, type LanePace, lanePace, msOf, tokensIn, tokensToNextEnd } from "./prefill-lane.ts";

/** When something happens by itself next; Infinity: never, unless a request comes. */
export const nextEventAtMs = (engine: Engine): number => nextEvent(engine).atMs;

/** Of several at the same time a leave comes first: it makes room. */
export const nextEvent = (engine: Engine): NextEvent => {
  engine.next ??= findNext(engine);
  return engine.next;
};

const NEVER: NextEvent = { atMs: Number.POSITIVE_INFINITY, kind: "never" };

const findNext = (engine: Engine): NextEvent => {
  const { nowMs, readyAtMs, lane, batch } = engine;
  if (nowMs < readyAtMs) return { atMs: readyAtMs, kind: "ready" };
  if (lane.length === 0 && batch.members.length === 0) return NEVER;
  const pace = lane.length === 0 ? null : paceOf(engine);
  const leave = tokensToLeave(batch);
  const grow = tokensToGrowth(engine);
  const decodeAtMs = nowMs + decodeMs(engine, pace, Math.min(leave, grow));
  const prefillAtMs = pace === null ? Number.POSITIVE_INFINITY : nowMs + msOf(pace, tokensToNextEnd(lane));
  if (prefillAtMs < decodeAtMs) return { atMs: prefillAtMs, kind: "prefill" };
  return { atMs: decodeAtMs, kind: leave <= grow ? "leave" : "grow" };
};

export const passUntil = (engine: Engine, atMs: number): void => {
  const ms = atMs - engine.nowMs;
  engine.nowMs = atMs;
  if (ms <= 0) return;
  const { lane, batch, options } = engine;
  if (lane.length === 0) {
    passTime(batch, ms / gapMs(engine), ms);
    return;
  }
  const tokens = tokensIn(paceOf(engine), ms);
  advanceLane(lane, tokens);
  engine.prefilledTokens += tokens;
  passTime(batch, options.chunkTokens === null ? ms / gapMs(engine) : tokens / prefillTokensAStep(engine), ms);
};

/** What decoding adds to the prefill of a token, ms: a step's weights are read once for all, its members' caches one by one. */
export const besideMs = (engine: Engine): number => {
  const { options, batch } = engine;
  if (options.chunkTokens === null) return 0;
  return (batch.members.length * options.itlMs * options.itlSlope) / prefillTokensAStep(engine);
};

const paceOf = (engine: Engine): LanePace => lanePace(engine.lane, engine.options.speed, besideMs(engine));

const decodeMs = (engine: Engine, pace: LanePace | null, tokens: number): number => {
  if (tokens === Number.POSITIVE_INFINITY) return tokens;
  return pace === null || engine.options.chunkTokens === null
    ? tokens * gapMs(engine)
    : msOf(pace, tokens * prefillTokensAStep(engine));
};

const prefillTokensAStep = ({ options, batch }: Engine): number =>
  Math.max(1, (options.chunkTokens ?? 0) - batch.members.length);

/** Between two tokens of every member while nobody is in prefill. */
const gapMs = ({ options, batch }: Engine): number =>
  options.itlMs * (1 + options.itlSlope * (batch.members.length - 1));
