/** The last turn of each conversation, as it was heard: what the next one is measured against. Bounded. */
import { LRUCache } from "lru-cache";
import type { PastTurn, TurnHistory } from "#gtm/domain/lessons.ts";
import type { ConversationId } from "#shared/ids.ts";

/** About 200 octets each. A conversation that is pushed out counts as one that was not followed. */
const MOST = 50_000;

export const createTurnHistory = (): TurnHistory => {
  const last = new LRUCache<ConversationId, PastTurn>({ max: MOST });
  return {
    followed: (id, turn) => {
      const before = last.get(id) ?? null;
      // One that is told late took place before what is known.
      if (before === null || before.atMs <= turn.atMs) last.set(id, turn);
      return before;
    },
  };
};
