/** Conversations as people ask for them: which, in which order, a page at a time. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { Conversation } from "./conversation.ts";

/** `recent`: latest turn first. `idle`: longest without a turn first. `tokens`: largest context first. `region`: by home, then as `recent`. */
export const CONVERSATION_SORTS = ["recent", "idle", "tokens", "region"] as const;
export type ConversationSort = (typeof CONVERSATION_SORTS)[number];

/** null, and 0, in a filter: any. */
export type ConversationQuery = {
  /** At home there. */
  readonly region: RegionId | null;
  readonly model: ModelId | null;
  /** By its 2-octet tag, which one tenant of 65 536 shares. */
  readonly tenantTag: number | null;
  readonly poolTag: number | null;
  readonly minTokens: number;
  /** Without a turn for so long. */
  readonly minIdleMs: number;
  readonly sort: ConversationSort;
  /** 1 or more. */
  readonly limit: number;
  readonly cursor: string | null;
};

/** Whose it is and where it was asked for, by tag. */
export type OwnedConversation = {
  readonly conversation: Conversation;
  readonly owner: { readonly tenantTag: number; readonly poolTag: number };
};

export type FoundConversations = {
  /** May be fewer than asked for, or none, though there are more. */
  readonly items: readonly OwnedConversation[];
  /** How many were looked at. */
  readonly examined: number;
  /** null: that was the last page. */
  readonly nextCursor: string | null;
};

export const ALL_CONVERSATIONS: Omit<ConversationQuery, "region" | "limit" | "cursor"> = {
  model: null,
  tenantTag: null,
  poolTag: null,
  minTokens: 0,
  minIdleMs: 0,
  sort: "recent",
};
