/** What the gateway knows of one replica: what it holds, what it has in flight, how fast it is. Changed by its turns alone. */
import type { ConversationId } from "#shared/ids.ts";
import type { InFlight, Lane } from "./backlog.ts";
import { type Calibration, createCalibration } from "./calibration.ts";
import { createHeld, type Held } from "./held.ts";
import type { ReplicaFacts } from "./replica-facts.ts";
import { type PrefillSpeed, speedOfRate } from "./replica-speed.ts";

export type ReplicaState = {
  facts: ReplicaFacts;
  /** Counts processes: what was sent to an earlier one leaves nothing in this one. */
  life: number;
  /** Tokens into the cache so far, computed and generated, with what is on its way. */
  tokensWritten: number;
  /** Of the turn sent last; they count from 1. */
  seq: number;
  readonly turns: Map<number, InFlight>;
  /** When the last first token came, and the latest turn that has surely been prefilled. */
  prefilledAtMs: number;
  prefilledSeq: number;
  /** Whether any reply ever said what was cached: then silence means nothing was. */
  tellsCached: boolean;
  /** As turns were lately; null: none was seen. */
  itlMs: number | null;
  outputTokens: number | null;
  /** Share of what was promised that was found in the cache lately, 0 to 1: what the engine evicts meanwhile is not seen otherwise. */
  keptFraction: number;
  readonly held: Held;
  readonly calibration: Calibration;
};

export type KnownSpeed = PrefillSpeed & {
  /** `measured`: here. `told`: by the engine's metrics or the operator. `guessed`: by nobody; enough to compare, not to refuse. */
  readonly source: "measured" | "told" | "guessed";
};

/** Of a middling model on one GPU. */
const GUESSED_TOKENS_PER_SECOND = 8_000;

export const newReplicaState = (facts: ReplicaFacts, tokensWritten: number): ReplicaState => {
  const state: ReplicaState = {
    facts,
    life: 0,
    tokensWritten,
    seq: 0,
    turns: new Map(),
    prefilledAtMs: Number.NEGATIVE_INFINITY,
    prefilledSeq: 0,
    tellsCached: false,
    itlMs: null,
    outputTokens: null,
    keptFraction: 1,
    held: createHeld(() => state.facts.kvCapacityTokens),
    calibration: createCalibration(),
  };
  return state;
};

/** What of a conversation is expected to be found there. */
export const expectedHeld = ({ held, keptFraction }: ReplicaState, conversation: ConversationId | null): number =>
  conversation === null ? 0 : held.tokensOf(conversation) * keptFraction;

export const laneOf = ({ turns, prefilledAtMs, prefilledSeq, facts }: ReplicaState): Lane => ({
  ...{ turns: [...turns.values()], prefilledAtMs, prefilledSeq },
  slots: facts.slots,
});

export const speedOf = ({ calibration, facts }: ReplicaState, nowMs: number): KnownSpeed => {
  const measured = calibration.speed(nowMs);
  if (measured !== null) return { ...measured, source: "measured" };
  const told = facts.prefillTokensPerSecond;
  return { ...speedOfRate(told ?? GUESSED_TOKENS_PER_SECOND), source: told === null ? "guessed" : "told" };
};
