/** One replica of a model as a discrete-event object: requests go in, time is let pass, events come out. */
import { prefillMs } from "#gtm/domain/serving.ts";
import { abortIn } from "./abort.ts";
import { type Counters, countEvent, startCounting } from "./counters.ts";
import { enqueue, runEngine } from "./engine.ts";
import { type EngineOptions, totalBlocksOf } from "./engine-options.ts";
import {
  createEngine,
  type Engine,
  matchedNow,
  outputTokensOf,
  outputTokensPreempted,
  runningIn,
  tokensToHold,
} from "./engine-state.ts";
import { growAnswers } from "./growth.ts";
import { createLookahead } from "./lookahead.ts";
import { type LostRequest, underWayIn } from "./loss.ts";
import { nextEventAtMs, passUntil } from "./pace.ts";
import { addedUp, NO_WORK, type PrefillWork, waitingMsIn, workLost } from "./prefill-work.ts";
import { blocksNeeded, type EngineRequest, reusableBlocks, type ServingEvent } from "./request.ts";

export type ReplicaState = {
  readonly isReady: boolean;
  readonly running: number;
  readonly waiting: number;
  /** Blocks of running requests over all blocks, 0 to 1; what finished requests left behind counts as free. */
  readonly kvUsedFraction: number;
  /** As they are whenever they are read: who compares two moments copies what he needs. */
  readonly counters: Counters;
  readonly decoded: Decoded;
};

export type Decoded = {
  /** Output tokens so far, of finished and of running requests. */
  readonly outputTokens: number;
  /** How many of them came after another, and the sum of those gaps. */
  readonly gaps: number;
  readonly gapsMs: number;
};

export type Replica = {
  /**
   * @param atMs no earlier than what was advanced to
   * @throws {RangeError} when the request could never fit; `fits` says so beforehand
   * @throws {Error} when it has failed and was not restarted
   */
  readonly submit: (request: EngineRequest, atMs: number) => void;
  readonly fits: (request: EngineRequest) => boolean;
  /** @returns whether the request was still there */
  readonly abort: (id: number, atMs: number) => boolean;
  /** What has happened since the last call, up to and including `ms`, in order. */
  readonly advanceTo: (ms: number) => readonly ServingEvent[];
  /** Lets time pass; what happens meanwhile the next `advanceTo` tells. */
  readonly catchUp: (ms: number) => void;
  /** Infinity: nothing will happen by itself. */
  readonly nextEventAtMs: () => number;
  readonly state: () => ReplicaState;
  /** Prompt tokens in the queue that the cache does not hold now. */
  readonly uncachedTokensWaiting: () => number;
  /**
   * Time until all prefills that are here have ended and one more could start; with first come, first served that is when
   * a request that came now would start. Exact while no other comes, and not free: ask only if you need it.
   */
  readonly backlogMs: () => number;
  /**
   * Σ prefill time of all that wait, by what the cache held when each came, and of what is under way: what a router in
   * front would know. Costs nothing; misses slots and memory that are not free, and what the queue's own requests will leave in the cache.
   */
  readonly waitingMs: () => number;
  readonly cachedTokens: (request: EngineRequest) => number;
  /** Prefill time of this request here if so many of its tokens are cached. */
  readonly prefillMs: (request: EngineRequest, cachedTokens: number) => number;
  /** Tokens written into the cache so far: computed and generated. */
  readonly tokensWritten: () => number;
  readonly work: () => PrefillWork;
  /** Shows each request that decodes now, with the output tokens it has so far. */
  readonly eachDecoding: (visit: (request: EngineRequest, outputTokens: number) => void) => void;
  /** What decoding has come to so far; cheap, for those who look often. */
  readonly decoded: () => Decoded;
  /** Forgets all contexts, as an engine that was put to sleep has. */
  readonly forgetContexts: () => void;
  /** Dies: whatever is under way is lost, and what the cache holds. What happened before is still told. @returns the lost */
  readonly fail: (atMs: number) => readonly LostRequest[];
  /** Begins anew and empty, ready after `coldStartMs`; counts go on. */
  readonly restart: (atMs: number) => void;
};

export const createReplica = (options: EngineOptions, startedAtMs: number): Replica => {
  const { blockTokens, speed } = options;
  let engine: Engine = createEngine(options, startedAtMs);
  let lookahead = createLookahead(engine);
  let isUp = true;
  /** The engine catches up with it when somebody looks. */
  let nowMs = startedAtMs;
  /** Of the engines before this one, which died. */
  let earlier = { work: NO_WORK, gapsMs: 0 };
  let events: ServingEvent[] = [];
  const counting = startCounting();
  const emit = (event: ServingEvent): void => {
    countEvent(counting, event);
    events.push(event);
  };
  const advance = (ms: number): void => {
    nowMs = Math.max(nowMs, ms);
    if (nextEventAtMs(engine) <= nowMs) runEngine(engine, nowMs, emit);
  };
  const now = (): Engine => {
    if (engine.nowMs < nowMs) passUntil(engine, nowMs);
    growAnswers(engine);
    return engine;
  };
  const begin = (created: Engine): void => {
    engine = created;
    lookahead = createLookahead(engine);
  };
  const heldTokens = (request: EngineRequest): number =>
    engine.cache.matchedBlocks(request.blocks, reusableBlocks(request.promptTokens, blockTokens)) * blockTokens;
  const outputTokens = (): number => {
    const { batch } = now();
    let tokens = counting.finishedOutputTokens;
    for (const member of batch.members) tokens += outputTokensOf(engine, member);
    return tokens + outputTokensPreempted(engine);
  };
  const decoded = (): Decoded => {
    const tokens = outputTokens();
    const gapsMs = earlier.gapsMs + engine.batch.waitedMs;
    return { outputTokens: tokens, gaps: tokens - counting.firstTokens, gapsMs };
  };
  const fits = (request: EngineRequest): boolean => blocksNeeded(request, blockTokens) <= totalBlocksOf(options);

  return {
    submit: (request, atMs) => {
      if (!fits(request)) throw new RangeError(`a request of ${request.promptTokens} tokens can never fit`);
      if (!isUp) throw new Error("a replica that has failed takes no requests");
      advance(atMs);
      now();
      const job = { request, submittedAtMs: atMs };
      lookahead.add(job);
      enqueue(engine, job, emit);
    },
    fits,
    abort: (id, atMs) => {
      advance(atMs);
      now();
      lookahead.forget();
      return abortIn(engine, id, emit);
    },
    advanceTo: (ms) => {
      advance(ms);
      if (events.length === 0) return NOTHING;
      const since = events;
      events = [];
      return since;
    },
    catchUp: advance,
    nextEventAtMs: () => nextEventAtMs(engine),
    state: () => ({
      isReady: nowMs >= engine.readyAtMs,
      running: runningIn(engine),
      waiting: engine.queue.length,
      kvUsedFraction: now().cache.usedBlocks() / engine.cache.totalBlocks,
      counters: counting,
      decoded: decoded(),
    }),
    uncachedTokensWaiting: () => {
      let tokens = 0;
      for (const job of now().queue) tokens += tokensToHold(job) - matchedNow(engine, job) * blockTokens;
      return tokens;
    },
    backlogMs: () => {
      now();
      return lookahead.waitMs();
    },
    waitingMs: () => waitingMsIn(now()),
    cachedTokens: (request) => {
      now();
      return heldTokens(request);
    },
    prefillMs: (request, cached) => prefillMs(speed, request.promptTokens - cached, request.promptTokens),
    tokensWritten: () => counting.computedTokens + outputTokens(),
    work: () => addedUp(earlier.work, now()),
    eachDecoding: (visit) => {
      for (const member of now().batch.members) visit(member.value.request, outputTokensOf(engine, member));
    },
    decoded,
    forgetContexts: () => {
      now().cache.forget();
      lookahead.forget();
    },
    fail: (atMs) => {
      advance(atMs);
      const lost = underWayIn(now());
      for (const one of lost) counting.finishedOutputTokens += one.outputTokens;
      earlier = { work: workLost(earlier.work, engine), gapsMs: earlier.gapsMs + engine.batch.waitedMs };
      isUp = false;
      begin(createEngine({ ...options, coldStartMs: Number.POSITIVE_INFINITY }, nowMs));
      return lost;
    },
    restart: (atMs) => {
      advance(atMs);
      isUp = true;
      begin(createEngine(options, nowMs));
    },
  };
};

const NOTHING: readonly ServingEvent[] = [];
