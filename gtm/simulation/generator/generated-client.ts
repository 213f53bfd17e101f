/** A client that says what its dice say, turn by turn, whatever serves it. */
import type { Dice } from "../dice.ts";
import type { PlannedTurn } from "../traffic.ts";
import type { DrawnTurn } from "./kind.ts";

/** A client's conversations, one after another. @param begin with its number in the traffic; null: there is no other */
export type Conversations = () => { readonly number: number; readonly next: () => DrawnTurn | null } | null;

/** Clients who are away for longer do not come back as the same client. */
export const LONGEST_PAUSE_MS = 1_800_000;

/** Asks at times that do not depend on answers. */
export const askByTheClock = (startsAtMs: number, number: number, next: () => DrawnTurn | null) => {
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
export const askAfterAnswers = (conversations: Conversations, skippedTurns: number) => {
  let current = conversations();
  let turn = 0;
  let skipped = 0;
  let isFirst = true;
  return (): PlannedTurn | null => {
    while (current !== null) {
      const drawn = current.next();
      if (drawn === null) {
        current = conversations();
        turn = 0;
      } else if (skipped < skippedTurns) {
        skipped += 1;
      } else {
        turn += 1;
        const thinkMs = isFirst ? 0 : Math.min(drawn.gapMs, LONGEST_PAUSE_MS);
        isFirst = false;
        return planned(current.number, turn, drawn, { kind: "after", thinkMs });
      }
    }
    return null;
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
