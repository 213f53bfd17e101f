/** A client that went away: its request leaves wherever it is, and what it held is free. */
import { memberWrote, removeMember } from "./decode-batch.ts";
import { type Emit, type Engine, finish, startWhatFits } from "./engine.ts";

/** @returns whether the request was there */
export const abortIn = (engine: Engine, id: number, emit: Emit): boolean => {
  const isFound = abortWaiting(engine, id, emit) || abortPrefill(engine, id, emit) || abortDecoding(engine, id, emit);
  if (isFound) startWhatFits(engine, emit);
  return isFound;
};

const abortWaiting = (engine: Engine, id: number, emit: Emit): boolean => {
  const at = engine.queue.findIndex((job) => job.request.id === id);
  const [job] = at === -1 ? [] : engine.queue.splice(at, 1);
  if (job === undefined) return false;
  const nothing = { startedAtMs: null, firstTokenAtMs: null, cachedTokens: 0, computedTokens: 0, outputTokens: 0 };
  emit({ kind: "finished", ...job, ...nothing, atMs: engine.nowMs, reason: "abort" });
  return true;
};

const abortPrefill = (engine: Engine, id: number, emit: Emit): boolean => {
  const job = engine.prefill?.job;
  if (job?.request.id !== id) return false;
  engine.prefill = null;
  finish(engine, job, 0, "abort", emit);
  return true;
};

const abortDecoding = (engine: Engine, id: number, emit: Emit): boolean => {
  const member = engine.batch.members.find(({ value }) => value.request.id === id);
  if (member === undefined) return false;
  removeMember(engine.batch, member);
  finish(engine, member.value, 1 + memberWrote(engine.batch, member), "abort", emit);
  return true;
};
