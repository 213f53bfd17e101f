/** Which conversations a replica's cache holds, as far as their turns tell: the least recently used go first, as in the engine. */
import type { ConversationId } from "#shared/ids.ts";

export type Held = {
  /** 0: nothing, as far as known. */
  readonly tokensOf: (conversation: ConversationId) => number;
  /** The newest word on this conversation. @param conversation null: a turn of none, which takes room as well */
  readonly put: (conversation: ConversationId | null, tokens: number) => void;
  /** The process began anew: its cache is empty. */
  readonly clear: () => void;
  readonly conversations: () => number;
  readonly tokens: () => number;
};

/** About 100 octets each; more than a cache of a million tokens has in chats of ten. */
const MOST_ENTRIES = 100_000;

/** @param capacityTokens of the replica; null: not known, and then only the number of entries is bounded */
export const createHeld = (capacityTokens: () => number | null): Held => {
  /** Least recently used first. */
  const entries = new Map<string, number>();
  let total = 0;
  let anonymous = 0;

  const remove = (key: string): void => {
    total -= entries.get(key) ?? 0;
    entries.delete(key);
  };
  const shrink = (): void => {
    const most = capacityTokens() ?? Number.POSITIVE_INFINITY;
    for (const [key, tokens] of entries) {
      if (total <= most && entries.size <= MOST_ENTRIES) return;
      if (entries.size > 1) {
        remove(key);
        continue;
      }
      // Alone and too large: its beginning is what is there.
      entries.set(key, most);
      total += most - tokens;
    }
  };
  return {
    tokensOf: (conversation) => entries.get(conversation) ?? 0,
    put: (conversation, tokens) => {
      anonymous += 1;
      // No conversation's id holds a colon.
      const key = conversation ?? `:${anonymous}`;
      remove(key);
      if (tokens <= 0) return;
      entries.set(key, tokens);
      total += tokens;
      shrink();
    },
    clear: () => {
      entries.clear();
      total = 0;
    },
    conversations: () => entries.size,
    tokens: () => total,
  };
};
