/** A client that went away: its request leaves wherever it is, and what it held is free. */
import { removeMember } from "./decode-batch.ts";
import { type Emit, finish, startWhatFits } from "./engine.ts";
import { type Engine, outputTokensOf, unqueue, type Waiting } from "./engine-state.ts";
import { dropPrefill, growAnswers } from "./growth.ts";

/** @returns whether the request was there */
export const abortIn = (engine: Engine, id: number, emit: Emit): boolean => {
  growAnswers(engine);
  const isFound = abortWaiting(engine, id, emit) || abortPrefill(engine, id, emit) || abortDecoding(engine, id, emit);
  if (isFound) startWhatFits(engine, emit);
  return isFound;
};

const abortWaiting = (engine: Engine, id: number, emit: Emit): boolean => {
  const at = engine.queue.findIndex((job) => job.request.id === id);
  const job = at === -1 ? null : unqueue(engine, at);
  if (job === null) return false;
  tell(engine, job, 0, emit);
  return true;
};

const abortPrefill = (engine: Engine, id: number, emit: Emit): boolean => {
  const one = engine.lane.find(({ job }) => job.request.id === id);
  if (one === undefined) return false;
  dropPrefill(engine, one);
  tell(engine, one.job, one.job.cachedTokens, emit);
  return true;
};

/** Of one that is not in the batch now; it may have answered before it was preempted. */
const tell = (engine: Engine, job: Waiting & { startedAtMs?: number }, cached: number, emit: Emit): void => {
  const { request, submittedAtMs, preempted } = job;
  const startedAtMs = job.startedAtMs ?? preempted?.startedAtMs ?? null;
  const { firstTokenAtMs, cachedTokens, outputTokens } = preempted?.answering ?? {
    firstTokenAtMs: null,
    cachedTokens: cached,
    outputTokens: 0,
  };
  const computedTokens = firstTokenAtMs === null ? 0 : request.promptTokens - cachedTokens;
  const times = { atMs: engine.nowMs, submittedAtMs, startedAtMs, firstTokenAtMs };
  emit({ kind: "finished", request, ...times, cachedTokens, computedTokens, outputTokens, reason: "abort" });
};

const abortDecoding = (engine: Engine, id: number, emit: Emit): boolean => {
  const member = engine.batch.members.find(({ value }) => value.request.id === id);
  if (member === undefined) return false;
  const outputTokens = outputTokensOf(engine, member);
  engine.next = null;
  removeMember(engine.batch, member);
  finish(engine, member.value, outputTokens, "abort", emit);
  return true;
};
