/** That a conversation was released, kept in the store for as long as any GTM may still know it: who missed it must not put it back. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId } from "#shared/ids.ts";
import { KEYS, releasedKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";

const TTL_MS = KEYS.released.ttlMs;

/** @throws {OperationalError} the store did not take it */
export const noteReleased = (store: Store, id: ConversationId): Promise<void> =>
  store.put(releasedKey(id), JSON.stringify({ v: 1 }), TTL_MS);

/** Whether it was released after its last turn that is known here. @throws {OperationalError} the store did not say */
export const wasReleased = async (
  store: Store,
  clock: Pick<Clock, "monotonicMs">,
  { id, lastTurnAtMs }: Conversation,
): Promise<boolean> => {
  const stored = await store.get(releasedKey(id));
  if (stored === null) return false;
  const releasedAtMs = clock.monotonicMs() - Math.max(0, TTL_MS - (stored.remainingMs ?? 0));
  return lastTurnAtMs <= releasedAtMs;
};
