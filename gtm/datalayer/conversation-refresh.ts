/** Reads what other GTMs changed, behind the decisions: each conversation once, so many a second however many changed. */
import type { ConversationId } from "#shared/ids.ts";

export type ConversationRefresh = {
  /** Returns at once. */
  readonly add: (id: ConversationId) => void;
  readonly stop: () => void;
};

/** 1 000 a second. */
const ROUND_MS = 50;
const MOST_A_ROUND = 50;
/** Of more the rest is read when it is asked for. */
const MOST_WAITING = 10_000;

/** @param read never rejects */
export const createConversationRefresh = (read: (id: ConversationId) => Promise<void>): ConversationRefresh => {
  const waiting = new Set<ConversationId>();
  let timer: NodeJS.Timeout | null = null;

  const round = (): void => {
    timer = null;
    if (waiting.size === 0) return;
    for (const id of [...waiting].slice(0, MOST_A_ROUND)) {
      waiting.delete(id);
      void read(id);
    }
    // Also when nothing is left: the next one comes a round later.
    wait(ROUND_MS);
  };
  const wait = (ms: number): void => {
    timer = setTimeout(round, ms);
    timer.unref();
  };
  return {
    add: (id) => {
      if (waiting.size >= MOST_WAITING) return;
      waiting.add(id);
      if (timer === null) wait(0);
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      waiting.clear();
    },
  };
};
