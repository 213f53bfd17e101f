/** Work spawns work: a conversation that begins with another one's context begins with what that one left behind. */
import type { Conversation, Holding } from "#gtm/domain/conversation.ts";
import type { ConversationId } from "#shared/ids.ts";
import type { Ports, Query } from "./ports.ts";

/** What the ledger knows of the query's conversation; of one that it does not know, what its parent left behind. */
export const conversationOf = (
  query: Query,
  find: Ports["findConversation"],
): Promise<Conversation | null> | Conversation | null => {
  const { conversationId, parentId } = query;
  const own = find(conversationId);
  if (parentId === null || conversationId === null || parentId === conversationId) return own;
  // Both at once: together they wait no longer than one.
  return Promise.all([own, find(parentId)]).then(([known, parent]) =>
    knownOrBorn(known, parent, conversationId, query.promptTokens),
  );
};

/** Its own ledger entry, else what its parent left behind; null: neither is known. */
export const knownOrBorn = (
  known: Conversation | null,
  parent: Conversation | null,
  id: ConversationId,
  promptTokens: number | null,
): Conversation | null => known ?? (parent === null ? null : bornOf(parent, id, promptTokens));

/** @param promptTokens of the child's first turn: it repeats no more than that of its parent; null: unknown */
export const bornOf = (parent: Conversation, id: ConversationId, promptTokens: number | null): Conversation => {
  const most = promptTokens ?? Number.POSITIVE_INFINITY;
  const inherited = (holding: Holding): Holding => ({ ...holding, tokens: Math.min(holding.tokens, most) });
  const [home, ...others] = parent.holdings;
  // An order about the parent is none about its child.
  const { isHomeOrdered: _, ...rest } = parent;
  return {
    ...rest,
    id,
    holdings: [inherited(home), ...others.map(inherited)],
    turns: 0,
    // Nothing of it is in the store yet, and nobody has refused it.
    rev: 0,
    refusedBy: [],
  };
};

export const isBeginning = (conversation: Conversation | null): boolean => conversation?.turns === 0;
