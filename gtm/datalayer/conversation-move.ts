/** Orders a conversation to a region: by compare-and-set on its record, heard by every GTM. */
import { type Conversation, contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import { movedTo } from "#gtm/domain/conversation-move.ts";
import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { listConversation, unlistConversation } from "#shared/conversation-index.ts";
import { packed } from "#shared/conversation-record.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import type { KnownConversation } from "./conversation-cache.ts";
import type { ReadConversation } from "./conversation-reader.ts";

export type ConversationMoved =
  | { readonly kind: "moved"; readonly conversation: Conversation }
  /** It is not what the caller saw any more, or it is being written at this moment. */
  | { readonly kind: "changed" }
  | { readonly kind: "unknown" };

/**
 * @param rev what the caller saw; null: whatever it is
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export type MoveConversation = (id: ConversationId, region: RegionId, rev: number | null) => Promise<ConversationMoved>;

const MOST_ATTEMPTS = 5;

export const createConversationMove =
  (options: {
    readonly store: Store;
    readonly clock: Clock;
    readonly read: ReadConversation;
    /** The store has it. */
    readonly onMoved: (known: KnownConversation) => void;
  }): MoveConversation =>
  async (id, region, rev) => {
    for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
      const known = await options.read(id);
      if (known === null) return { kind: "unknown" };
      if (rev !== null && known.conversation.rev !== rev) return { kind: "changed" };
      const moved = await attempt(options, id, movedTo(known.conversation, region), known);
      if (moved !== null) return { kind: "moved", conversation: moved };
    }
    return { kind: "changed" };
  };

/** @returns null: somebody else was faster */
const attempt = async (
  { store, clock, onMoved }: Parameters<typeof createConversationMove>[0],
  id: ConversationId,
  moved: Conversation,
  known: KnownConversation,
): Promise<Conversation | null> => {
  const key = conversationKey(id);
  const { rev } = moved;
  const nowMs = clock.monotonicMs();
  const written = await store.compareAndSet(
    key,
    rev,
    packed(moved, known.owner, rev + 1, nowMs),
    KEYS.conversation.ttlMs,
  );
  if (written.kind !== "stored") return null;
  const conversation = { ...moved, rev: rev + 1 };
  const region = homeOf(conversation);
  onMoved({ ...known, conversation, checkedAtMs: clock.monotonicMs(), isOutdated: false, listedIn: region });
  await announceChange(store, key, conversation.rev);
  const lastTurnEpochMs = conversation.lastTurnAtMs + clock.epochMs() - clock.monotonicMs();
  await listConversation(store, { id, region, lastTurnEpochMs, contextTokens: contextTokensOf(conversation) });
  const before = homeOf(known.conversation);
  if (before !== region) await unlistConversation(store, before, id);
  return conversation;
};
