/** Forgets a conversation everywhere, so that its next turn is placed anew; where asked, only as somebody saw it. */
import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { unlistConversation } from "#shared/conversation-index.ts";
import { packed } from "#shared/conversation-record.ts";
import type { ConversationId } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import type { KnownConversation } from "./conversation-cache.ts";
import type { ReadConversation } from "./conversation-reader.ts";
import { noteReleased } from "./conversation-released.ts";

export type ConversationReleased =
  | "released"
  /** It is not what the caller saw any more, and stays. */
  | "changed"
  | "unknown";

/**
 * @param rev what the caller saw; null: whatever it is
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export type ReleaseConversation = (id: ConversationId, rev: number | null) => Promise<ConversationReleased>;

type Parts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly read: ReadConversation;
  /** Forgets it here. */
  readonly forget: (id: ConversationId) => void;
};

export const createConversationRelease =
  (parts: Parts): ReleaseConversation =>
  async (id, rev) => {
    const { store, read, forget } = parts;
    const known = await read(id);
    if (known !== null && rev !== null && !(await isClaimed(parts, known, rev))) return "changed";
    forget(id);
    if (known === null) return "unknown";
    await noteReleased(store, id);
    await store.remove(conversationKey(id));
    await announceChange(store, conversationKey(id), 0);
    const listedIn = new Set(known.conversation.holdings.map(({ region }) => region));
    for (const region of listedIn) await unlistConversation(store, region, id);
    return "released";
  };

/** The store compares as it writes the next revision, which a turn that is written at this moment cannot have; then it is removed. */
const isClaimed = async (
  { store, clock }: Parts,
  { conversation, owner }: KnownConversation,
  rev: number,
): Promise<boolean> => {
  if (conversation.rev !== rev) return false;
  const claim = packed(conversation, owner, rev + 1, clock.monotonicMs());
  const outcome = await store.compareAndSet(conversationKey(conversation.id), rev, claim, KEYS.conversation.ttlMs);
  return outcome.kind === "stored";
};
