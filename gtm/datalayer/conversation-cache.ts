/** The conversations that this instance knows: bounded, each with what of it the store has and when that was last seen. */
import { LRUCache } from "lru-cache";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { homeKeptWith, settledWith } from "#gtm/domain/conversation-ledger.ts";
import type { Owner } from "#shared/conversation-record.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";

export type KnownConversation = {
  readonly conversation: Conversation;
  readonly owner: Owner;
  /** When the store last said or took this, monotonic ms. */
  readonly checkedAtMs: number;
  /** Another GTM has said since that it wrote it: the store is asked before it is used. */
  readonly isOutdated: boolean;
  /** Whose index in the store lists it; null: none's, as far as we know. */
  readonly listedIn: RegionId | null;
  /** It was placed as a new one because the store answered too late: what is stored is its home. */
  readonly isUnknowing?: true;
  /** The store had lost it: its revision there begins anew, and may be another's by now. */
  readonly isOffer?: true;
};

/** What is known here, on top of what the store has. */
export const joinedWith = (stored: Conversation, mine: KnownConversation, keptForMs: number): Conversation =>
  (mine.isUnknowing === true ? homeKeptWith : settledWith)(stored, mine.conversation, keptForMs);

export type ConversationCache = LRUCache<ConversationId, KnownConversation>;

/** About 600 bytes each. */
const MOST = 100_000;

export const createConversationCache = (): ConversationCache => new LRUCache({ max: MOST });
