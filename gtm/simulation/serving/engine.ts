/** How a replica moves from one event to the next: a queue, one prefill at a time, and a batch that decodes. */
import { prefillMs } from "#gtm/domain/serving.ts";
import { createDecodeBatch, type DecodeBatch, join, leave, nextLeaveMs, passTime } from "./decode-batch.ts";
import { type EngineOptions, totalBlocksOf } from "./engine-options.ts";
import { createPrefixCache, type PrefixCache } from "./prefix-cache.ts";
import { blocksNeeded, type EngineRequest, reusableBlocks, type ServingEvent } from "./request.ts";

export type Waiting = { readonly request: EngineRequest; readonly submittedAtMs: number };
export type Started = Waiting & {
  readonly startedAtMs: number;
  readonly cachedTokens: number;
  readonly blocks: Int32Array;
};
export type Decoding = Started & { readonly firstTokenAtMs: number };

/** Mutable, so that it can be copied and played ahead. */
export type Engine = {
  readonly options: EngineOptions;
  readonly cache: PrefixCache;
  readonly readyAtMs: number;
  nowMs: number;
  readonly queue: Waiting[];
  prefill: { readonly job: Started; readonly endsAtMs: number } | null;
  readonly batch: DecodeBatch<Decoding>;
};
export type Emit = (event: ServingEvent) => void;

export const createEngine = (options: EngineOptions, startedAtMs: number): Engine => ({
  options,
  cache: createPrefixCache(totalBlocksOf(options)),
  readyAtMs: startedAtMs + options.coldStartMs,
  nowMs: startedAtMs,
  queue: [],
  prefill: null,
  batch: createDecodeBatch(),
});

export const forkEngine = (engine: Engine): Engine => ({
  ...engine,
  cache: engine.cache.fork(),
  queue: engine.queue.slice(),
  batch: { ...engine.batch, members: engine.batch.members.slice() },
});

export const runningIn = (engine: Engine): number => engine.batch.members.length + (engine.prefill === null ? 0 : 1);

/** Whether there is a slot and a block for one more. */
export const hasRoom = (engine: Engine): boolean =>
  runningIn(engine) < engine.options.maxRunning && engine.cache.usedBlocks() < engine.cache.totalBlocks;

/** Whether nothing but the queue itself would keep a request of one block from starting now. */
export const canStart = (engine: Engine): boolean =>
  engine.prefill === null && engine.nowMs >= engine.readyAtMs && hasRoom(engine);

/** When something happens by itself next; Infinity: never, unless a request comes. */
export const nextEventAtMs = (engine: Engine): number => {
  const leaveAtMs = engine.nowMs + nextLeaveMs(engine.batch, engine.options);
  const readyAtMs = engine.nowMs < engine.readyAtMs ? engine.readyAtMs : Number.POSITIVE_INFINITY;
  return Math.min(leaveAtMs, engine.prefill?.endsAtMs ?? Number.POSITIVE_INFINITY, readyAtMs);
};

/** Lets time pass up to and including `toMs`. */
export const runEngine = (engine: Engine, toMs: number, emit: Emit): void => {
  for (let atMs = nextEventAtMs(engine); atMs <= toMs; atMs = nextEventAtMs(engine)) step(engine, atMs, emit);
  if (toMs > engine.nowMs) passUntil(engine, toMs);
};

export const enqueue = (engine: Engine, job: Waiting, emit: Emit): void => {
  engine.queue.push(job);
  startWhatFits(engine, emit);
};

/** One event, at the time `nextEventAtMs` gave. Of several at the same time a leave comes first: it makes room. */
export const step = (engine: Engine, atMs: number, emit: Emit): void => {
  const isLeave = engine.nowMs + nextLeaveMs(engine.batch, engine.options) <= atMs;
  passUntil(engine, atMs);
  if (isLeave) {
    const job = leave(engine.batch);
    if (job !== null) finish(engine, job, job.request.outputTokens, job.request.finishReason, emit);
  } else if (engine.prefill !== null && engine.prefill.endsAtMs <= atMs) {
    endPrefill(engine, engine.prefill.job, emit);
  }
  startWhatFits(engine, emit);
};

/** First come, first served: whoever does not fit holds up those behind. */
export const startWhatFits = (engine: Engine, emit: Emit): void => {
  const [first] = engine.queue;
  if (first === undefined || !canStart(engine)) return;
  const { request } = first;
  const matched = engine.cache.matchedBlocks(request.blocks, reusableBlocks(request, engine.options.blockTokens));
  const blocks = engine.cache.pin(request.blocks, matched, blocksNeeded(request, engine.options.blockTokens));
  if (blocks === null) return;
  engine.queue.shift();
  const cachedTokens = matched * engine.options.blockTokens;
  const endsAtMs =
    engine.nowMs + prefillMs(engine.options.speed, request.promptTokens - cachedTokens, request.promptTokens);
  engine.prefill = { job: { ...first, startedAtMs: engine.nowMs, cachedTokens, blocks }, endsAtMs };
  emit({ kind: "prefill-started", request, atMs: engine.nowMs, submittedAtMs: first.submittedAtMs, cachedTokens });
};

/** The end of a request, whole or not: its blocks stay as cache, and are free. */
export const finish = (
  engine: Engine,
  job: Started | Decoding,
  outputTokens: number,
  reason: "stop" | "length" | "abort",
  emit: Emit,
): void => {
  const { request } = job;
  const firstTokenAtMs = "firstTokenAtMs" in job ? job.firstTokenAtMs : null;
  // The last token written has been sampled but not computed.
  const to = Math.floor((request.promptTokens + outputTokens - 1) / engine.options.blockTokens);
  const from = firstTokenAtMs === null ? to : Math.floor(request.promptTokens / engine.options.blockTokens);
  engine.cache.release(engine.cache.name(job.blocks, request.blocks, from, to));
  emit({
    kind: "finished",
    request,
    atMs: engine.nowMs,
    submittedAtMs: job.submittedAtMs,
    startedAtMs: job.startedAtMs,
    firstTokenAtMs,
    cachedTokens: job.cachedTokens,
    computedTokens: firstTokenAtMs === null ? 0 : request.promptTokens - job.cachedTokens,
    outputTokens,
    reason,
  });
};

const endPrefill = (engine: Engine, job: Started, emit: Emit): void => {
  const { request, cachedTokens, submittedAtMs, startedAtMs } = job;
  engine.prefill = null;
  const firstNew = cachedTokens / engine.options.blockTokens;
  const full = Math.floor(request.promptTokens / engine.options.blockTokens);
  const blocks = engine.cache.name(job.blocks, request.blocks, firstNew, full);
  const atMs = engine.nowMs;
  const computedTokens = request.promptTokens - cachedTokens;
  emit({ kind: "first-token", request, atMs, submittedAtMs, startedAtMs, cachedTokens, computedTokens });
  const decoding = { ...job, blocks, firstTokenAtMs: atMs };
  if (request.outputTokens === 1) finish(engine, decoding, 1, request.finishReason, emit);
  else join(engine.batch, decoding, request.outputTokens - 1);
};

const passUntil = (engine: Engine, atMs: number): void => {
  passTime(engine.batch, engine.options, atMs - engine.nowMs);
  engine.nowMs = atMs;
};
