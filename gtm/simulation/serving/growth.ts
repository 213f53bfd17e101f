/** Answers that outgrow the memory they were admitted with, and who has to make room for them. */
import { type Member, ROUNDING, removeMember } from "./decode-batch.ts";
import { type Decoding, type Engine, outputTokensOf, queueUp, type Started } from "./engine-state.ts";
import type { Prefilling } from "./prefill-lane.ts";

/** Blocks that a request needs while it waits for its next token. */
export const blocksToGoOn = ({ options }: Engine, request: Started["request"], outputTokens: number): number => {
  const tokens = request.promptTokens + (options.admission === "whole" ? request.outputTokens : outputTokens);
  return Math.ceil(Math.min(tokens, request.promptTokens + request.outputTokens) / options.blockTokens);
};

/**
 * Tokens that each member writes until memory has to be looked at again: while there are blocks enough for all members,
 * growth waits for the next event; where they are few, the moment is exact.
 */
export const tokensToGrowth = (engine: Engine): number => {
  const { options, cache, batch } = engine;
  if (options.admission === "whole" || batch.members.length === 0) return Number.POSITIVE_INFINITY;
  const freeEach = Math.floor((cache.totalBlocks - cache.usedBlocks()) / batch.members.length);
  if (freeEach > 1) return (freeEach - 1) * options.blockTokens;
  return Math.max(0, engine.growsAt - batch.written);
};

/** When a member outgrows its blocks, in tokens that the batch has written; Infinity: not before it leaves. */
export const growsAtOf = ({ options }: Engine, { value, joinedAt, leavesAt }: Member<Decoding>): number => {
  const full = value.blocks.length * options.blockTokens - value.request.promptTokens;
  const growsAt = joinedAt + full + 1 - value.writtenWhenJoined;
  return growsAt >= leavesAt ? Number.POSITIVE_INFINITY : growsAt;
};

/** Gives every answer the blocks that it has grown into; where there is none, the youngest request makes room. */
export const growAnswers = (engine: Engine): void => {
  const { options, batch, cache } = engine;
  if (options.admission === "whole" || batch.written + ROUNDING < engine.growsAt) return;
  engine.growsAt = Number.POSITIVE_INFINITY;
  for (let at = 0; at < batch.members.length; ) {
    const member = batch.members[at];
    if (member === undefined) return;
    const { value } = member;
    const missing = blocksToGoOn(engine, value.request, outputTokensOf(engine, member)) - value.blocks.length;
    const blocks = missing <= 0 ? value.blocks : cache.grow(value.blocks, missing);
    if (blocks === null) {
      preemptYoungest(engine);
      engine.growsAt = Number.POSITIVE_INFINITY;
      at = 0;
      continue;
    }
    const grown = missing > 0 ? { ...member, value: { ...value, blocks } } : member;
    batch.members[at] = grown;
    engine.growsAt = Math.min(engine.growsAt, growsAtOf(engine, grown));
    at += 1;
  }
};

/** A request that ends before its growth was looked at: there was room for it, or it would have been. */
export const grownUp = (engine: Engine, job: Decoding): Decoding => {
  const missing = blocksToGoOn(engine, job.request, job.request.outputTokens - 1) - job.blocks.length;
  const blocks = missing <= 0 ? null : engine.cache.grow(job.blocks, missing);
  return blocks === null ? job : { ...job, blocks };
};

const preemptYoungest = (engine: Engine): void => {
  const { lane, batch } = engine;
  engine.next = null;
  engine.preemptions += 1;
  const inLane = lane.reduce<Prefilling<Started> | null>((a, b) => (younger(b.job, a?.job) ? b : a), null);
  const member = batch.members.reduce<Member<Decoding> | null>((a, b) => (younger(b.value, a?.value) ? b : a), null);
  if (inLane !== null && younger(inLane.job, member?.value)) preemptPrefill(engine, inLane);
  else if (member !== null) preemptAnswer(engine, member);
};

const younger = (one: Started, other: Started | undefined): boolean =>
  other === undefined || one.admission > other.admission;

const preemptPrefill = (engine: Engine, one: Prefilling<Started>): void => {
  const { request, submittedAtMs, startedAtMs, preempted } = one.job;
  dropPrefill(engine, one);
  queueUp(engine, { request, submittedAtMs, preempted: preempted ?? { startedAtMs, answering: null } });
};

/** Takes a prefill out; whole blocks of it stay as cache. */
export const dropPrefill = (engine: Engine, one: Prefilling<Started>): void => {
  const { lane, cache, options } = engine;
  engine.next = null;
  lane.splice(lane.indexOf(one), 1);
  engine.abandonedTokens += one.at - one.from;
  // A prefill that is computed whole is one step: there is nothing of it before its end.
  const to = options.chunkTokens === null ? one.from : one.at;
  const [first, last] = [one.from, to].map((tokens) => Math.floor(tokens / options.blockTokens));
  cache.release(cache.name(one.job.blocks, one.job.request.blocks, first ?? 0, last ?? 0));
};

const preemptAnswer = (engine: Engine, member: Member<Decoding>): void => {
  const { cache, options, batch } = engine;
  const { request, submittedAtMs, startedAtMs, firstTokenAtMs, cachedTokens, blocks } = member.value;
  const outputTokens = outputTokensOf(engine, member);
  removeMember(batch, member);
  const [from, to] = [request.promptTokens, request.promptTokens + outputTokens - 1];
  const named = [from, to].map((tokens) => Math.floor(tokens / options.blockTokens));
  cache.release(cache.name(blocks, request.blocks, named[0] ?? 0, named[1] ?? 0));
  const answering = { firstTokenAtMs, cachedTokens, outputTokens };
  queueUp(engine, { request, submittedAtMs, preempted: { startedAtMs, answering } });
};
