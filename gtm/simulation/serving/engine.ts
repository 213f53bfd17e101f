/** How a replica moves from one event to the next: a queue, prefills, and a batch that decodes. */
import { join, leave } from "./decode-batch.ts";
import {
  canStart,
  type Decoding,
  type Engine,
  matchedNow,
  queueUp,
  type Started,
  tokensToHold,
  unqueue,
  type Waiting,
} from "./engine-state.ts";
import { blocksToGoOn, growAnswers, grownUp, growsAtOf } from "./growth.ts";
import { nextEvent, nextEventAtMs, passUntil } from "./pace.ts";
import { nextToEnd } from "./prefill-lane.ts";
import type { ServingEvent } from "./request.ts";

export type Emit = (event: ServingEvent) => void;
export type Job = Pick<Waiting, "request" | "submittedAtMs">;

/** Lets time pass up to and including `toMs`. */
export const runEngine = (engine: Engine, toMs: number, emit: Emit): void => {
  while (nextEventAtMs(engine) <= toMs) step(engine, emit);
  if (toMs > engine.nowMs) passUntil(engine, toMs);
};

export const enqueue = (engine: Engine, job: Job, emit: Emit): void => {
  growAnswers(engine);
  const matched = queueUp(engine, { ...job, preempted: null });
  startWhatFits(engine, emit, engine.queue.length === 1 ? matched : null);
};

/** The next event. */
export const step = (engine: Engine, emit: Emit): void => {
  const { atMs, kind } = nextEvent(engine);
  passUntil(engine, atMs);
  engine.next = null;
  if (kind === "leave") {
    const job = leave(engine.batch);
    if (job !== null) finish(engine, grownUp(engine, job), job.request.outputTokens, job.request.finishReason, emit);
  } else if (kind === "prefill") {
    endPrefill(engine, emit);
  }
  growAnswers(engine);
  startWhatFits(engine, emit);
};

/**
 * First come, first served: whoever does not fit holds up those behind.
 *
 * @param matchedOfFirst blocks of the first that the cache holds, where that has just been looked up; null: it has not
 */
export const startWhatFits = (engine: Engine, emit: Emit, matchedOfFirst: number | null = null): void => {
  let known = matchedOfFirst;
  while (canStart(engine) && startFirst(engine, emit, known)) {
    engine.next = null;
    known = null;
  }
};

const startFirst = (engine: Engine, emit: Emit, known: number | null): boolean => {
  const [first] = engine.queue;
  if (first === undefined) return false;
  const { request, submittedAtMs, preempted } = first;
  const matched = known ?? matchedNow(engine, first);
  const needed = blocksToGoOn(engine, request, (preempted?.answering?.outputTokens ?? 0) + 1);
  const blocks = engine.cache.pin(request.blocks, matched, needed);
  if (blocks === null) return false;
  unqueue(engine, 0);
  engine.admissions += 1;
  const cachedTokens = matched * engine.options.blockTokens;
  const startedAtMs = preempted?.startedAtMs ?? engine.nowMs;
  const job = { ...first, startedAtMs, cachedTokens, blocks, admission: engine.admissions };
  engine.lane.push({ job, from: cachedTokens, at: cachedTokens, to: tokensToHold(first) });
  if (preempted === null) emit({ kind: "prefill-started", request, atMs: engine.nowMs, submittedAtMs, cachedTokens });
  return true;
};

/** The end of an answer, whole or not: its blocks stay as cache, and are free. */
export const finish = (
  engine: Engine,
  job: Decoding,
  outputTokens: number,
  reason: "stop" | "length" | "abort",
  emit: Emit,
): void => {
  const { request, submittedAtMs, startedAtMs, firstTokenAtMs, cachedTokens } = job;
  // The last token written has been sampled but not computed.
  const to = Math.floor((request.promptTokens + outputTokens - 1) / engine.options.blockTokens);
  const from = Math.floor(request.promptTokens / engine.options.blockTokens);
  engine.cache.release(engine.cache.name(job.blocks, request.blocks, from, to));
  emit({
    kind: "finished",
    request,
    atMs: engine.nowMs,
    submittedAtMs,
    startedAtMs,
    firstTokenAtMs,
    cachedTokens,
    computedTokens: request.promptTokens - cachedTokens,
    outputTokens,
    reason,
  });
};

const endPrefill = (engine: Engine, emit: Emit): void => {
  const [ended] = engine.lane.splice(nextToEnd(engine.lane), 1);
  if (ended === undefined) return;
  const { job, from, to } = ended;
  const { blockTokens } = engine.options;
  const blocks = engine.cache.name(job.blocks, job.request.blocks, from / blockTokens, Math.floor(to / blockTokens));
  const decoding = firstTokenOf(engine, { ...job, blocks }, to - from, emit);
  const missing = job.request.outputTokens - decoding.writtenWhenJoined;
  if (missing === 0) finish(engine, decoding, job.request.outputTokens, job.request.finishReason, emit);
  else engine.growsAt = Math.min(engine.growsAt, growsAtOf(engine, join(engine.batch, decoding, missing)));
};

/** Of a request that answered before it was preempted the client has seen the first token already. */
const firstTokenOf = (engine: Engine, job: Started, computedTokens: number, emit: Emit): Decoding => {
  const answering = job.preempted?.answering ?? null;
  if (answering !== null) {
    engine.recomputedTokens += computedTokens;
    const { firstTokenAtMs, cachedTokens, outputTokens } = answering;
    return { ...job, cachedTokens, firstTokenAtMs, writtenWhenJoined: outputTokens + 1 };
  }
  const { request, submittedAtMs, startedAtMs, cachedTokens } = job;
  const atMs = engine.nowMs;
  emit({ kind: "first-token", request, atMs, submittedAtMs, startedAtMs, cachedTokens, computedTokens });
  return { ...job, firstTokenAtMs: atMs, writtenWhenJoined: 1 };
};
