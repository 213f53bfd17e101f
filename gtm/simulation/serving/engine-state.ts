/** What a replica is at a moment: who waits, who is computed, who writes, and what its memory holds. */
import { prefillMs } from "#gtm/domain/serving.ts";
import { createDecodeBatch, type DecodeBatch, type Member, memberWrote } from "./decode-batch.ts";
import { type EngineOptions, totalBlocksOf } from "./engine-options.ts";
import type { Prefilling } from "./prefill-lane.ts";
import { createPrefixCache, type PrefixCache } from "./prefix-cache.ts";
import { type EngineRequest, reusableBlocks } from "./request.ts";

export type Waiting = {
  readonly request: EngineRequest;
  readonly submittedAtMs: number;
  /** Prefill time of what the cache lacked when it joined the queue. */
  readonly missingMs: number;
  /** null: it has never started. */
  readonly preempted: Preempted | null;
};
/** What a request had come to when it had to make room. */
export type Preempted = {
  readonly startedAtMs: number;
  /** null: it was still in prefill, and begins anew. */
  readonly answering: {
    readonly firstTokenAtMs: number;
    readonly cachedTokens: number;
    readonly outputTokens: number;
  } | null;
};
export type Started = Waiting & {
  readonly startedAtMs: number;
  readonly cachedTokens: number;
  readonly blocks: Int32Array;
  /** Its number among all that were admitted: the last is the youngest. */
  readonly admission: number;
};
export type Decoding = Started & { readonly firstTokenAtMs: number; readonly writtenWhenJoined: number };

export type NextEvent = { readonly atMs: number; readonly kind: "ready" | "prefill" | "leave" | "grow" | "never" };

/** Mutable, so that it can be copied and played ahead. */
export type Engine = {
  readonly options: EngineOptions;
  readonly cache: PrefixCache;
  readonly readyAtMs: number;
  nowMs: number;
  /** null: something has changed since it was looked for. */
  next: NextEvent | null;
  readonly queue: Waiting[];
  /** Σ missingMs of the queue. */
  queuedMs: number;
  readonly lane: Prefilling<Started>[];
  readonly batch: DecodeBatch<Decoding>;
  /** What the batch must have written before an answer outgrows its blocks; no one needs to look before. */
  growsAt: number;
  admissions: number;
  preemptions: number;
  /** Tokens that prefill has computed in all; of these again after a preemption; and of these for requests that did not get as far as their first token. */
  prefilledTokens: number;
  recomputedTokens: number;
  abandonedTokens: number;
};

export const createEngine = (options: EngineOptions, startedAtMs: number): Engine => ({
  options,
  cache: createPrefixCache(totalBlocksOf(options)),
  readyAtMs: startedAtMs + options.coldStartMs,
  nowMs: startedAtMs,
  next: null,
  queue: [],
  queuedMs: 0,
  lane: [],
  batch: createDecodeBatch(),
  growsAt: Number.POSITIVE_INFINITY,
  admissions: 0,
  preemptions: 0,
  prefilledTokens: 0,
  recomputedTokens: 0,
  abandonedTokens: 0,
});

/** @param spare a memory that nobody needs any more, of an engine with the same options */
export const forkEngine = (engine: Engine, spare: PrefixCache | null): Engine => ({
  ...engine,
  cache: engine.cache.fork(spare),
  queue: engine.queue.slice(),
  lane: engine.lane.map((one) => ({ ...one })),
  batch: { ...engine.batch, members: engine.batch.members.slice() },
});

export const runningIn = (engine: Engine): number => engine.batch.members.length + engine.lane.length;

/** Whether there is a slot and a block for one more. */
export const hasRoom = (engine: Engine): boolean =>
  runningIn(engine) < engine.options.maxRunning && engine.cache.usedBlocks() < engine.cache.totalBlocks;

/** Whether nothing but the queue itself would keep a request of one block from starting now. */
export const canStart = (engine: Engine): boolean =>
  engine.lane.length < engine.options.prefillsAtOnce && engine.nowMs >= engine.readyAtMs && hasRoom(engine);

/** Output tokens that a member has by now, those before a preemption included. */
export const outputTokensOf = (engine: Engine, member: Member<Decoding>): number =>
  member.value.writtenWhenJoined + memberWrote(engine.batch, member);

/** Output tokens of those that were preempted and wait. */
export const outputTokensPreempted = ({ queue, lane }: Engine): number => {
  let tokens = 0;
  for (const { preempted } of queue) tokens += preempted?.answering?.outputTokens ?? 0;
  for (const { job } of lane) tokens += job.preempted?.answering?.outputTokens ?? 0;
  return tokens;
};

/** What has to be in memory before the next token can come: the prompt, and what of the answer was written before a preemption. */
export const tokensToHold = ({ request, preempted }: Pick<Waiting, "request" | "preempted">): number =>
  request.promptTokens + (preempted?.answering?.outputTokens ?? 0);

/** Blocks of these tokens that the cache holds; one token at least is always computed. */
export const matchedNow = ({ cache, options }: Engine, job: Pick<Waiting, "request" | "preempted">): number =>
  cache.matchedBlocks(job.request.blocks, reusableBlocks(tokensToHold(job), options.blockTokens));

/** Puts a request into the queue, at its front if it was preempted. @returns blocks of it that the cache holds now */
export const queueUp = (engine: Engine, job: Omit<Waiting, "missingMs">): number => {
  const tokens = tokensToHold(job);
  const matched = matchedNow(engine, job);
  const held = matched * engine.options.blockTokens;
  const waiting = { ...job, missingMs: prefillMs(engine.options.speed, tokens - held, tokens) };
  engine.queuedMs += waiting.missingMs;
  if (job.preempted === null) engine.queue.push(waiting);
  else engine.queue.unshift(waiting);
  return matched;
};

/** Takes one out of the queue, wherever it stands. */
export const unqueue = (engine: Engine, at: number): Waiting | null => {
  const [job] = engine.queue.splice(at, 1);
  if (job === undefined) return null;
  // What rounding leaves over would add up.
  engine.queuedMs = engine.queue.length === 0 ? 0 : engine.queuedMs - job.missingMs;
  return job;
};
