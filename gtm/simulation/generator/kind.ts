/** What a kind of traffic must say of itself; the rest of the generator is the same for all. */
import type { Dice } from "../dice.ts";

/** A turn as its conversation has it, whatever the time. */
export type DrawnTurn = {
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Full blocks of prompt and answer; the kind decides what of it is the turn's before. */
  readonly blocks: readonly number[];
  /** From the turn before to this one, ms; before the first turn: from the conversation before, if the client had one. */
  readonly gapMs: number;
};

export type ConversationDraw = {
  readonly dice: Dice;
  /** Unique in the traffic. */
  readonly number: number;
  /** Number of a conversation that began about so long before; two clients may speak of the same document. null: none. */
  readonly earlier: (dice: Dice, secondsBefore: number) => number | null;
  readonly seed: number;
  readonly blockTokens: number;
  /** Where a conversation ends at the latest, tokens of prompt. */
  readonly longestPromptTokens: number;
};

export type Kind = {
  /** What its gaps were measured from: the question before (so an open loop may ask by the clock), or the answer. */
  readonly gapsFrom: "question" | "answer";
  readonly blockTokens: number;
  readonly longestPromptTokens: number;
  /** @returns its turns one after another; null: it has ended */
  readonly begin: (draw: ConversationDraw) => () => DrawnTurn | null;
};
