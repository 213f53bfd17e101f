/** Reads conversations from the store into the cache: each once at a time, however many ask for it. */
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { conversationKey, KEYS, refusedKey } from "#shared/keys.ts";
import { RefusedRecord } from "#shared/records.ts";
import type { Store, Stored } from "#shared/store.ts";
import type { ConversationCache, KnownConversation } from "./conversation-cache.ts";
import { keptAt, mergedWith } from "./conversation-ledger.ts";
import { unpacked } from "./conversation-record.ts";
import type { WriteQueue } from "./write-queue.ts";

/** @throws {OperationalError} GTM_STORE_UNREACHABLE; GTM_RECORD_REFUSED: what stands there is no record, and is left alone */
export type ReadConversation = (id: ConversationId) => Promise<KnownConversation | null>;

const TTL_MS = KEYS.conversation.ttlMs;

export const createConversationReader = (options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly cache: ConversationCache;
  readonly queue: WriteQueue<ConversationId, KnownConversation>;
}): ReadConversation => {
  const { store, clock, cache, queue } = options;
  const reading = new Map<ConversationId, Promise<KnownConversation | null>>();

  const adopt = (id: ConversationId, found: KnownConversation): KnownConversation => {
    const waiting = queue.get(id);
    const mine = waiting ?? cache.peek(id) ?? null;
    // Read before our own last write: what we wrote is newer.
    if (mine !== null && isOlder(found.conversation, mine.conversation)) return mine;
    const conversation =
      waiting === null ? found.conversation : mergedWith(found.conversation, waiting.conversation, TTL_MS);
    const known = { ...found, conversation };
    cache.set(id, known);
    queue.replace(id, known);
    return known;
  };
  /** The store has none: what we know is offered to it, unless it has only aged away. */
  const offer = (id: ConversationId): KnownConversation | null => {
    const known = queue.get(id) ?? cache.get(id) ?? null;
    const nowMs = clock.monotonicMs();
    const conversation = known === null ? null : keptAt(known.conversation, nowMs, TTL_MS);
    if (known === null || conversation === null) {
      cache.delete(id);
      return null;
    }
    const offered = { ...known, conversation, checkedAtMs: nowMs };
    cache.set(id, offered);
    queue.add(id, offered);
    return offered;
  };
  const readOnce = async (id: ConversationId): Promise<KnownConversation | null> => {
    const [stored = null, refused = null] = await store.getMany([conversationKey(id), refusedKey(id)]);
    if (stored === null) return offer(id);
    const found = unpacked(id, stored.value, refusedBy(refused), clock);
    if (found === null)
      throw new OperationalError("GTM_RECORD_REFUSED", `${conversationKey(id)} holds no conversation`);
    return adopt(id, { ...found, checkedAtMs: clock.monotonicMs(), listedIn: homeOf(found.conversation) });
  };

  return (id) => {
    const running = reading.get(id);
    if (running !== undefined) return running;
    const run = readOnce(id).finally(() => reading.delete(id));
    reading.set(id, run);
    return run;
  };
};

const isOlder = (found: Conversation, mine: Conversation): boolean =>
  found.rev < mine.rev && found.lastTurnAtMs <= mine.lastTurnAtMs;

/** What a gateway refused within the last seconds; a record that is none refuses nothing. */
const refusedBy = (stored: Stored | null): readonly RegionId[] => {
  if (stored === null) return [];
  try {
    const parsed = RefusedRecord.safeParse(JSON.parse(stored.value));
    return parsed.success ? [parsed.data.region] : [];
  } catch {
    return [];
  }
};
