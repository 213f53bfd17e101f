/** The latest turns of conversations as gateways measured them: what was promised of each, and what it really was. Bounded. */
import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";

export type KeptTurn = Pick<
  MeasuredTurn,
  | "region"
  | "replica"
  | "promptTokens"
  | "cachedTokens"
  | "predictedCachedTokens"
  | "ttftMs"
  | "predictedTtftMs"
  | "outcome"
  | "decision"
> & {
  /** Unix epoch. */
  readonly endedAtMs: number;
};

export type ConversationTurns = {
  readonly measured: (turns: readonly MeasuredTurn[]) => void;
  /** Newest first. */
  readonly of: (id: ConversationId) => readonly KeptTurn[];
};

/** About 300 octets a turn: 20 MB at most. */
const MOST_CONVERSATIONS = 8_000;
const MOST_TURNS = 8;

export const createConversationTurns = (clock: Pick<Clock, "epochMs">): ConversationTurns => {
  const kept = new LRUCache<ConversationId, readonly KeptTurn[]>({ max: MOST_CONVERSATIONS });
  return {
    measured: (turns) => {
      for (const turn of turns) {
        if (turn.conversation === null) continue;
        const before = kept.get(turn.conversation) ?? [];
        kept.set(turn.conversation, [keptOf(turn, clock.epochMs()), ...before].slice(0, MOST_TURNS));
      }
    },
    of: (id) => kept.get(id)?.toSorted((a, b) => b.endedAtMs - a.endedAtMs) ?? [],
  };
};

const keptOf = (turn: MeasuredTurn, nowMs: number): KeptTurn => {
  const { region, replica, promptTokens, cachedTokens, predictedCachedTokens, ttftMs, predictedTtftMs } = turn;
  return {
    ...{ region, replica, promptTokens, cachedTokens, predictedCachedTokens, ttftMs, predictedTtftMs },
    ...{ outcome: turn.outcome, decision: turn.decision },
    endedAtMs: nowMs - turn.atAgeMs,
  };
};
