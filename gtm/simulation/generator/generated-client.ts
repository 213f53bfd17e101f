/** A client that says what its dice say, turn by turn, whatever serves it. */
import type { Dice } from "../dice.ts";
import type { PlannedTurn } from "../traffic.ts";
import type { DrawnTurn } from "./kind.ts";

export type Conversation = { readonly number: number; readonly next: () => DrawnTurn | null };

/** A client's conversations, one after another; null: there is no other. */
export type Conversations = () => Conversation | null;

/** Clients who are away for longer do not come back as the same client. */
export const LONGEST_PAUSE_MS = 1_800_000;

/** Asks at times that do not depend on answers. */
export const askByTheClock = (startsAtMs: number, { number, next }: Conversation) => {
  let atMs = startsAtMs;
  let turn = 0;
  return (): PlannedTurn | null => {
    const drawn = next();
    if (drawn === null) return null;
    turn += 1;
    if (turn > 1) atMs += drawn.gapMs;
    return planned(number, turn, drawn, { kind: "at", ms: atMs });
  };
};

/** Asks after each answer, and goes on with another conversation when one has ended. */
export const askAfterAnswers = (conversations: Conversations) => {
  let current = conversations();
  let turn = 0;
  let isFirst = true;
  return (): PlannedTurn | null => {
    while (current !== null) {
      const drawn = current.next();
      if (drawn === null) {
        current = conversations();
        turn = 0;
        continue;
      }
      turn += 1;
      const thinkMs = isFirst ? 0 : Math.min(drawn.gapMs, LONGEST_PAUSE_MS);
      isFirst = false;
      return planned(current.number, turn, drawn, { kind: "after", thinkMs });
    }
    return null;
  };
};

/**
 * A conversation met at any of its turns, the likelier the more it has.
 *
 * @param isLater whether it must have had a turn before
 */
export const metMidway = (dice: Dice, begin: () => Conversation, isLater: boolean): Conversation => {
  let conversation = begin();
  let turn = 0;
  for (let left = Math.floor(dice() * MOST_SKIPPED_TURNS); ; left--) {
    const drawn = conversation.next();
    if (drawn === null) {
      conversation = begin();
      turn = 0;
      continue;
    }
    turn += 1;
    if (left > 0 || (isLater && turn === 1)) continue;
    return { number: conversation.number, next: firstThen(drawn, conversation.next) };
  }
};

/** Enough for any kind's conversations to be met at any of their turns. */
const MOST_SKIPPED_TURNS = 400;

const firstThen = (first: DrawnTurn, later: () => DrawnTurn | null): (() => DrawnTurn | null) => {
  let isFirst = true;
  return () => {
    if (!isFirst) return later();
    isFirst = false;
    return first;
  };
};

const planned = (
  conversation: number,
  turn: number,
  { promptTokens, outputTokens, blocks }: DrawnTurn,
  asks: PlannedTurn["asks"],
): PlannedTurn => ({ conversation, parent: null, turn, promptTokens, outputTokens, blocks, asks });

/** How long until a client that has been asking for ever asks next: the rest of a pause, met the likelier the longer it is. */
export const restOfPauseMs = (dice: Dice, pauseMs: () => number): number => {
  const pauses = Array.from({ length: PAUSES }, () => Math.min(pauseMs(), LONGEST_PAUSE_MS));
  let left = dice() * pauses.reduce((sum, pause) => sum + pause, 0);
  for (const pause of pauses) {
    if (left < pause) return left;
    left -= pause;
  }
  return 0;
};

/** Drawn to meet one of them by its length. */
const PAUSES = 64;
