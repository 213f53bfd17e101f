/** Reads conversations from the store into the cache: each once at a time, however many ask for it. */
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import { unpacked } from "#shared/conversation-record.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { conversationKey, KEYS, refusedKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import { RefusedRecord } from "#shared/records.ts";
import type { Store, Stored } from "#shared/store.ts";
import type { WriteQueue } from "#shared/write-queue.ts";
import type { ConversationCache, KnownConversation } from "./conversation-cache.ts";
import { addsTo, keptAt, settledWith } from "./conversation-ledger.ts";
import type { StoreFailures } from "./store-failures.ts";

/** @throws {OperationalError} GTM_STORE_UNREACHABLE; GTM_RECORD_REFUSED: what stands there is no record, and is left alone */
export type ReadConversation = (id: ConversationId) => Promise<KnownConversation | null>;

const TTL_MS = KEYS.conversation.ttlMs;

export const createConversationReader = (options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly cache: ConversationCache;
  readonly queue: WriteQueue<ConversationId, KnownConversation>;
}): ReadConversation => {
  const { store, clock, cache, queue } = options;
  const reading = new Map<ConversationId, Promise<KnownConversation | null>>();
  const offers = options.metrics.counter({
    name: "gtm_pins_offered_total",
    help: "Conversations that the store had lost (wiped) or knew less of (a replica took over), given back to it.",
    labels: ["because"],
  });

  const adopt = (id: ConversationId, found: KnownConversation, askedAtMs: number): KnownConversation => {
    const waiting = queue.get(id);
    const mine = waiting ?? cache.peek(id) ?? null;
    if (mine === null) return keep(id, found);
    // Asked before our own last write was taken: what we wrote is newer.
    if (found.conversation.rev < mine.conversation.rev && mine.checkedAtMs >= askedAtMs) return mine;
    const conversation = settledWith(found.conversation, mine.conversation, TTL_MS);
    if (waiting !== null) {
      queue.replace(id, keep(id, { ...found, conversation }));
      return cache.peek(id) ?? found;
    }
    if (!knowsMore(mine.conversation, found.conversation, conversation)) return keep(id, found);
    // A replica took over that had not heard of our write: it stands again, on top of what was written since.
    offers.inc({ because: "older" });
    const again = keep(id, { ...found, conversation });
    queue.add(id, again);
    return again;
  };
  const keep = (id: ConversationId, known: KnownConversation): KnownConversation => {
    cache.set(id, known);
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
    offers.inc({ because: "absent" });
    const offered = keep(id, { ...known, conversation, checkedAtMs: nowMs, isOutdated: false });
    queue.add(id, offered);
    return offered;
  };
  /** A refusal that cannot be read costs no conversation: it only lasts seconds. */
  const findRefusal = async (id: ConversationId): Promise<Stored | null> => {
    try {
      return await store.get(refusedKey(id));
    } catch (cause) {
      options.failures("refused.read", cause);
      return null;
    }
  };
  const readOnce = async (id: ConversationId): Promise<KnownConversation | null> => {
    const askedAtMs = clock.monotonicMs();
    const [stored, refused] = await Promise.all([store.get(conversationKey(id)), findRefusal(id)]);
    if (stored === null) return offer(id);
    const nowMs = clock.monotonicMs();
    const found = unpacked(id, stored, refusedBy(refused), nowMs);
    if (found === null)
      throw new OperationalError("GTM_RECORD_REFUSED", `${conversationKey(id)} holds no conversation`);
    const known = { ...found, checkedAtMs: nowMs, isOutdated: false, listedIn: homeOf(found.conversation) };
    return adopt(id, known, askedAtMs);
  };

  return (id) => {
    const running = reading.get(id);
    if (running !== undefined) return running;
    const run = readOnce(id).finally(() => reading.delete(id));
    reading.set(id, run);
    return run;
  };
};

/** Whether the store took a word of ours that it no longer has. What was never there (rev 0) waits in the queue, or was given up. */
const knowsMore = (mine: Conversation, found: Conversation, merged: Conversation): boolean =>
  mine.rev > 0 && mine.rev >= found.rev && addsTo(found, merged);

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
