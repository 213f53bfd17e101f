/** What was last seen of each conversation; the longest silent are forgotten, so that it does not grow with the trace. */

/** What a turn is, next to its conversation's turns before. */
export type Seen = {
  /** Prompt and answer of the turn before; 0: there was none, or it is forgotten. */
  readonly contextTokens: number;
  /** Whether a turn of it has been counted before. */
  readonly isCounted: boolean;
};

export type ConversationMemory = {
  /** Looks at what came before, and keeps the turn in its stead. @param isCounted whether this turn is */
  readonly see: (conversation: number, contextTokens: number, isCounted: boolean) => Seen;
};

/** Some 15 MB. Conversations that are quiet for longer than this many others are asked are rarely held by a region either. */
const MOST_CONVERSATIONS = 131_072;
const NOTHING: Seen = { contextTokens: 0, isCounted: false };

export const createConversationMemory = (mostConversations = MOST_CONVERSATIONS): ConversationMemory => {
  const seen = new Map<number, Seen>();
  return {
    see: (conversation, contextTokens, isCounted) => {
      const before = seen.get(conversation) ?? NOTHING;
      seen.delete(conversation);
      seen.set(conversation, { contextTokens, isCounted: isCounted || before.isCounted });
      if (seen.size > mostConversations) {
        for (const oldest of seen.keys()) {
          seen.delete(oldest);
          break;
        }
      }
      return before;
    },
  };
};
