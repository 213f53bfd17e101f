/** One turn at one replica, from being sent to its end: what it does to what is known of the replica, and what it took. */
import type { ConversationId } from "#shared/ids.ts";
import { prefillStart } from "./backlog.ts";
import type { Computed } from "./calibration.ts";
import { prefillMs } from "./replica-speed.ts";
import { expectedHeld, laneOf, type ReplicaState, speedOf } from "./replica-state.ts";
import type { Usage } from "./usage.ts";

/** What is sent to the replica. */
export type Sent = {
  readonly conversation: ConversationId | null;
  readonly promptTokens: number;
  /** Expected; null: as its turns lately. */
  readonly outputTokens: number | null;
  /** Monotonic ms. */
  readonly atMs: number;
};

/** What a turn that has ended took, and left. */
export type Passed = {
  /** Request sent to first octet of content; null: none was seen. */
  readonly ttftMs: number | null;
  readonly totalMs: number;
  /** What of `ttftMs` was waiting for other prefills. */
  readonly queuedMs: number | null;
  readonly cachedTokens: number | null;
  /** Of the conversation in the cache now, prompt and output; null: it left nothing, or nobody says how much. */
  readonly heldTokens: number | null;
};

export type Passage = {
  /** Of the conversation, held when it was sent; never more than the prompt. */
  readonly promisedTokens: number;
  /** The answer began; whether it will show its first token. */
  readonly began: (isStreamed: boolean) => void;
  readonly firstToken: (atMs: number) => void;
  /** Once. @param isKept it was served, at least to its first token: its context is in the cache */
  readonly end: (usage: Usage, isKept: boolean, atMs: number) => Passed;
};

/** Weight of the newest turn in what turns usually write, and how fast. */
const NEWEST_SHARE = 0.1;
/** Of fewer tokens the gap between them says nothing. */
const LEAST_TOKENS = 8;
/** Of less the engine's whole blocks say nothing. */
const LEAST_PROMISE = 256;
/** Caches keep whole blocks; vLLM's usual size. */
const BLOCK_TOKENS = 16;

export const sendTo = (state: ReplicaState, sent: Sent): Passage => {
  state.seq += 1;
  const { seq, life } = state;
  const heldBefore = sent.conversation === null ? 0 : state.held.tokensOf(sent.conversation);
  const promisedTokens = Math.min(heldBefore, sent.promptTokens);
  const missing = sent.promptTokens - Math.min(expectedHeld(state, sent.conversation), sent.promptTokens);
  const outputTokens = sent.outputTokens ?? state.outputTokens;
  const expectedTokens = missing + (outputTokens ?? 0);
  state.tokensWritten += expectedTokens;
  // On its way already: a turn in parallel comes to the same replica.
  const onItsWay = Math.max(heldBefore, sent.promptTokens);
  state.held.put(sent.conversation, onItsWay);
  state.turns.set(seq, {
    seq,
    submittedAtMs: sent.atMs,
    prefillMs: prefillMs(speedOf(state, sent.atMs), missing, sent.promptTokens),
    decodeMs: state.itlMs === null || outputTokens === null ? null : state.itlMs * outputTokens,
    isStreamed: null,
    firstTokenAtMs: null,
  });
  let ttftMs: number | null = null;
  let queuedMs: number | null = null;
  let tellComputed: ((computed: Computed | null) => void) | null = null;

  /** @returns what is held of the conversation now; null: not known, or nothing */
  const leave = (usage: Usage, isKept: boolean): number | null => {
    if (life !== state.life) return null;
    const tokens = (usage.promptTokens ?? sent.promptTokens) + (usage.completionTokens ?? 0);
    const isUntouched = sent.conversation !== null && state.held.tokensOf(sent.conversation) === onItsWay;
    if (isKept) state.held.put(sent.conversation, tokens);
    else if (isUntouched) state.held.put(sent.conversation, heldBefore);
    state.tokensWritten -= expectedTokens;
    if (isKept) state.tokensWritten += Math.max(0, tokens - (usage.cachedTokens ?? promisedTokens));
    return isKept && usage.promptTokens !== null ? tokens : null;
  };
  return {
    promisedTokens,
    began: (isStreamed) => {
      const turn = state.turns.get(seq);
      if (turn !== undefined) state.turns.set(seq, { ...turn, isStreamed });
    },
    firstToken: (atMs) => {
      const turn = state.turns.get(seq);
      if (turn === undefined || turn.firstTokenAtMs !== null) return;
      const start = prefillStart(laneOf(state), turn, atMs);
      ttftMs = atMs - sent.atMs;
      // Several replicas behind a router prefill at once: which of its turns waited for which, nobody sees.
      const isLane = !state.facts.isRouter;
      if (isLane) queuedMs = start.atMs - sent.atMs;
      if (isLane && start.isSeen && life === state.life) tellComputed = state.calibration.prefilled(start.atMs, atMs);
      state.turns.set(seq, { ...turn, firstTokenAtMs: atMs });
      state.prefilledAtMs = Math.max(state.prefilledAtMs, atMs);
      state.prefilledSeq = Math.max(state.prefilledSeq, seq);
    },
    end: (read, isKept, atMs) => {
      state.turns.delete(seq);
      // A whole answer: it has been prefilled, and so has whatever came before it, though nobody saw when.
      if (isKept) state.prefilledSeq = Math.max(state.prefilledSeq, seq);
      const usage = withCached(state, read);
      tellComputed?.(computedOf(usage));
      const totalMs = atMs - sent.atMs;
      if (life === state.life) learnKept(state, usage, promisedTokens);
      if (isKept) learnDecode(state, usage, ttftMs === null ? null : totalMs - ttftMs);
      return { ttftMs, totalMs, queuedMs, cachedTokens: usage.cachedTokens, heldTokens: leave(usage, isKept) };
    },
  };
};

/** Engines that tell what was cached leave the field out where nothing was (vLLM, SGLang). */
const withCached = (state: ReplicaState, usage: Usage): Usage => {
  state.tellsCached ||= usage.cachedTokens !== null;
  const isNone = usage.cachedTokens === null && usage.promptTokens !== null && state.tellsCached;
  return isNone ? { ...usage, cachedTokens: 0 } : usage;
};

/** Against what was promised, not against what was expected: that would settle at the root of it. */
const learnKept = (state: ReplicaState, { cachedTokens }: Usage, promisedTokens: number): void => {
  if (cachedTokens === null || promisedTokens < LEAST_PROMISE) return;
  const found = Math.min(1, (cachedTokens + BLOCK_TOKENS) / promisedTokens);
  state.keptFraction = averaged(state.keptFraction, found);
};

const computedOf = ({ promptTokens, cachedTokens }: Usage): Computed | null =>
  promptTokens === null || cachedTokens === null ? null : { tokens: promptTokens - cachedTokens, end: promptTokens };

/** @param decodedMs first to last token; null: not seen */
const learnDecode = (state: ReplicaState, { completionTokens }: Usage, decodedMs: number | null): void => {
  if (completionTokens === null) return;
  state.outputTokens = averaged(state.outputTokens, completionTokens);
  if (decodedMs !== null && completionTokens >= LEAST_TOKENS)
    state.itlMs = averaged(state.itlMs, decodedMs / (completionTokens - 1));
};

const averaged = (before: number | null, now: number): number =>
  before === null ? now : before + NEWEST_SHARE * (now - before);
