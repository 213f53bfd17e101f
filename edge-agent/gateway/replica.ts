/** One replica: asked what a turn would cost there, sent turns, told what its engine says of itself. */
import type { ConversationId, ReplicaId } from "#shared/ids.ts";
import { backlogMs } from "./backlog.ts";
import type { Candidate } from "./choice.ts";
import { type Passage, type Sent, sendTo } from "./passage.ts";
import type { ReplicaFacts } from "./replica-facts.ts";
import { expectedHeld, type KnownSpeed, laneOf, newReplicaState, speedOf } from "./replica-state.ts";

export type Replica = {
  readonly id: ReplicaId;
  readonly facts: () => ReplicaFacts;
  /** The engine's newest word; a later start voids what it held. */
  readonly learn: (facts: ReplicaFacts) => void;
  readonly candidate: (conversation: ConversationId | null, nowMs: number) => Candidate;
  readonly send: (sent: Sent) => Passage;
  readonly speed: (nowMs: number) => KnownSpeed;
  /** 0 where no speed was measured, else up to 1. */
  readonly confidence: (nowMs: number) => number;
  readonly backlogMs: (nowMs: number) => number;
  readonly inFlight: () => number;
  readonly heldTokens: () => number;
  readonly tokensWritten: () => number;
};

/** A later start is another process; clocks and uptimes tremble. */
const SAME_START_MS = 2_000;

/**
 * @param tokensWritten what its like have written: a newcomer is not given everything until it has caught up
 * @param nowEpochMs a start after this is a restart, also where none was known before
 */
export const createReplica = (facts: ReplicaFacts, tokensWritten: number, nowEpochMs: number): Replica => {
  const state = newReplicaState(facts, tokensWritten);
  return {
    id: facts.id,
    facts: () => state.facts,
    learn: (next) => {
      const knownMs = state.facts.startedAtMs ?? nowEpochMs;
      const isRestarted = next.startedAtMs !== null && next.startedAtMs > knownMs + SAME_START_MS;
      // What is not known for a moment has not changed.
      state.facts = { ...next, startedAtMs: next.startedAtMs ?? state.facts.startedAtMs };
      if (!isRestarted) return;
      state.life += 1;
      state.held.clear();
      state.calibration.clear();
      state.keptFraction = 1;
    },
    candidate: (conversation, nowMs) => ({
      id: facts.id,
      backlogMs: backlogMs(laneOf(state), nowMs),
      heldTokens: expectedHeld(state, conversation),
      tokensWritten: state.tokensWritten,
      speed: speedOf(state, nowMs),
    }),
    send: (sent) => sendTo(state, sent),
    speed: (nowMs) => speedOf(state, nowMs),
    confidence: state.calibration.confidence,
    backlogMs: (nowMs) => backlogMs(laneOf(state), nowMs),
    inFlight: () => state.turns.size,
    heldTokens: state.held.tokens,
    tokensWritten: () => state.tokensWritten,
  };
};
