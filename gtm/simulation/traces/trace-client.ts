/** A client of a trace: its turns one after another, at their times or after the answers. */
import type { PlannedTurn } from "../traffic.ts";
import type { RecordedClient, RecordedTurn } from "./recorded-trace.ts";
import { type Naming, turnBlocks } from "./turn-blocks.ts";

export type Told = {
  readonly client: RecordedClient;
  /** Number of its own conversation; those of its sub-agents follow. */
  readonly number: number;
  readonly naming: Naming;
};

/** A client has fewer conversations. */
export const CONVERSATIONS_A_CLIENT = 64;
const TURNS_A_CONVERSATION = 2 ** 14;

/** @param asksOf when turn `at`, from 0, is asked @returns one turn a call; null: no more */
export const tell = (
  { client: { turns }, number, naming }: Told,
  from: number,
  asksOf: (turn: RecordedTurn, at: number) => PlannedTurn["asks"],
): (() => PlannedTurn | null) => {
  const counts = new Map<number, number>();
  let at = from;
  return () => {
    const turn = turns[at];
    if (turn === undefined) return null;
    const asks = asksOf(turn, at);
    at += 1;
    const count = (counts.get(turn.thread) ?? 0) + 1;
    counts.set(turn.thread, count);
    const conversation = number + (turn.thread % CONVERSATIONS_A_CLIENT);
    const next = turns.find((later, index) => index >= at && later.thread === turn.thread) ?? null;
    const { promptTokens, outputTokens } = turn;
    const blocks = turnBlocks(turn, next, naming, conversation * TURNS_A_CONVERSATION + at);
    return {
      conversation,
      parent: turn.thread === 0 ? null : number,
      turn: count,
      promptTokens,
      outputTokens,
      blocks,
      asks,
    };
  };
};
