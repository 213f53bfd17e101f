/** One replica of a model as a discrete-event object: requests go in, time is let pass, events come out. */
import { prefillMs } from "#gtm/domain/serving.ts";
import { abortIn } from "./abort.ts";
import { type Counters, countEvent, NO_COUNTS } from "./counters.ts";
import { memberWrote } from "./decode-batch.ts";
import { createEngine, enqueue, nextEventAtMs, runEngine, runningIn } from "./engine.ts";
import { type EngineOptions, totalBlocksOf } from "./engine-options.ts";
import { createLookahead } from "./lookahead.ts";
import { blocksNeeded, type EngineRequest, reusableBlocks, type ServingEvent } from "./request.ts";

export type ReplicaState = {
  readonly isReady: boolean;
  readonly running: number;
  readonly waiting: number;
  /** Prompt tokens in the queue that the cache does not hold now. */
  readonly uncachedTokensWaiting: number;
  /** Time until a request that came now would start its prefill; exact while no other comes. */
  readonly backlogMs: number;
  /** Blocks of running requests over all blocks, 0 to 1; what finished requests left behind counts as free. */
  readonly kvUsedFraction: number;
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
   */
  readonly submit: (request: EngineRequest, atMs: number) => void;
  readonly fits: (request: EngineRequest) => boolean;
  /** @returns whether the request was still there */
  readonly abort: (id: number, atMs: number) => boolean;
  /** What has happened since the last call, up to and including `ms`, in order. */
  readonly advanceTo: (ms: number) => readonly ServingEvent[];
  /** Infinity: nothing will happen by itself. */
  readonly nextEventAtMs: () => number;
  readonly state: () => ReplicaState;
  readonly backlogMs: () => number;
  readonly cachedTokens: (request: EngineRequest) => number;
  /** Prefill time of this request here if so many of its tokens are cached. */
  readonly prefillMs: (request: EngineRequest, cachedTokens: number) => number;
  /** Tokens written into the cache so far: computed and generated. */
  readonly tokensWritten: () => number;
  /** Shows each request that decodes now, with the output tokens it has so far. */
  readonly eachDecoding: (visit: (request: EngineRequest, outputTokens: number) => void) => void;
  /** What decoding has come to so far; cheap, for those who look often. */
  readonly decoded: () => Decoded;
  /** Forgets all contexts, as an engine that was put to sleep has. */
  readonly forgetContexts: () => void;
};

export const createReplica = (options: EngineOptions, startedAtMs: number): Replica => {
  const engine = createEngine(options, startedAtMs);
  const lookahead = createLookahead(engine);
  let counters = NO_COUNTS;
  let events: ServingEvent[] = [];
  const emit = (event: ServingEvent): void => {
    counters = countEvent(counters, event);
    events.push(event);
  };
  const cachedTokens = (request: EngineRequest): number =>
    engine.cache.matchedBlocks(request.blocks, reusableBlocks(request, options.blockTokens)) * options.blockTokens;
  const outputTokens = (): number =>
    engine.batch.members.reduce(
      (sum, member) => sum + 1 + memberWrote(engine.batch, member),
      counters.finishedOutputTokens,
    );
  const decoded = (): Decoded => ({
    outputTokens: outputTokens(),
    gaps: outputTokens() - counters.firstTokens,
    gapsMs: engine.batch.waitedMs,
  });
  const fits = (request: EngineRequest): boolean =>
    blocksNeeded(request, options.blockTokens) <= totalBlocksOf(options);

  return {
    submit: (request, atMs) => {
      if (!fits(request)) throw new RangeError(`a request of ${request.promptTokens} tokens can never fit`);
      runEngine(engine, atMs, emit);
      const job = { request, submittedAtMs: atMs };
      lookahead.add(job);
      enqueue(engine, job, emit);
    },
    fits,
    abort: (id, atMs) => {
      runEngine(engine, atMs, emit);
      lookahead.forget();
      return abortIn(engine, id, emit);
    },
    advanceTo: (ms) => {
      runEngine(engine, ms, emit);
      const since = events;
      events = [];
      return since;
    },
    nextEventAtMs: () => nextEventAtMs(engine),
    state: () => ({
      isReady: engine.nowMs >= engine.readyAtMs,
      running: runningIn(engine),
      waiting: engine.queue.length,
      uncachedTokensWaiting: engine.queue.reduce(
        (sum, { request }) => sum + request.promptTokens - cachedTokens(request),
        0,
      ),
      backlogMs: lookahead.waitMs(),
      kvUsedFraction: engine.cache.usedBlocks() / engine.cache.totalBlocks,
      counters,
      decoded: decoded(),
    }),
    backlogMs: lookahead.waitMs,
    cachedTokens,
    prefillMs: (request, cached) => prefillMs(options.speed, request.promptTokens - cached, request.promptTokens),
    tokensWritten: () => counters.computedTokens + outputTokens(),
    eachDecoding: (visit) => {
      for (const member of engine.batch.members) visit(member.value.request, 1 + memberWrote(engine.batch, member));
    },
    decoded,
    forgetContexts: () => {
      engine.cache.forget();
      lookahead.forget();
    },
  };
};
