/** Reads conversations from the store into the cache: each once at a time, however many ask for it. */
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import { addsTo, keptAt } from "#gtm/domain/conversation-ledger.ts";
import type { Clock } from "#shared/clock.ts";
import { unpacked } from "#shared/conversation-record.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { WriteQueue } from "#shared/write-queue.ts";
import { type ConversationCache, joinedWith, type KnownConversation } from "./conversation-cache.ts";
import type { ConversationRefusals } from "./conversation-refusals.ts";
import { wasReleased } from "./conversation-released.ts";

/** @throws {OperationalError} GTM_STORE_UNREACHABLE; GTM_RECORD_REFUSED: what stands there is no record, and is left alone */
export type ReadConversation = (id: ConversationId) => Promise<KnownConversation | null>;

const TTL_MS = KEYS.conversation.ttlMs;

export const createConversationReader = (options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly refusals: Pick<ConversationRefusals, "read">;
  /** What is known of a conversation now that the store was asked. */
  readonly onRead: (conversation: Conversation) => void;
  /** Somebody released it, and we had not heard. */
  readonly onReleased: (id: ConversationId) => void;
  readonly cache: ConversationCache;
  readonly queue: WriteQueue<ConversationId, KnownConversation>;
}): ReadConversation => {
  const { store, clock, cache, queue, refusals } = options;
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
    const conversation = joinedWith(found.conversation, mine, TTL_MS);
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
    options.onRead(known.conversation);
    return known;
  };
  /** The store has none: what we know is offered to it, unless it has only aged away, or somebody released it. */
  const offer = async (id: ConversationId): Promise<KnownConversation | null> => {
    const before = queue.get(id) ?? cache.get(id) ?? null;
    const isReleased = before !== null && (await wasReleased(store, clock, before.conversation));
    // Turns go on meanwhile.
    const known = queue.get(id) ?? cache.get(id) ?? null;
    const nowMs = clock.monotonicMs();
    const conversation = known === null ? null : keptAt(known.conversation, nowMs, TTL_MS);
    if (isReleased && known?.conversation.lastTurnAtMs === before.conversation.lastTurnAtMs) {
      options.onReleased(id);
      return null;
    }
    if (known === null || conversation === null) {
      cache.delete(id);
      return null;
    }
    offers.inc({ because: "absent" });
    const offered = keep(id, { ...known, conversation, checkedAtMs: nowMs, isOutdated: false, isOffer: true });
    queue.add(id, offered);
    return offered;
  };
  const readOnce = async (id: ConversationId): Promise<KnownConversation | null> => {
    const askedAtMs = clock.monotonicMs();
    const [stored] = await Promise.all([store.get(conversationKey(id)), refusals.read(id)]);
    if (stored === null) return offer(id);
    const nowMs = clock.monotonicMs();
    const found = unpacked(id, stored, [], nowMs);
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

/** Clocks and the store's whole seconds tell two turns apart from here on. */
const LATER_MS = 2_000;

/**
 * Whether the store took a word of ours that it no longer has. What was never there (rev 0) waits in the queue, or was given
 * up. Revisions begin anew in a store that was wiped, where somebody who had not noticed may have written over our turn: a
 * later revision with an older last turn is not one that was written on top of ours.
 */
const knowsMore = (mine: Conversation, found: Conversation, merged: Conversation): boolean => {
  const isOlder = mine.rev >= found.rev || mine.lastTurnAtMs - found.lastTurnAtMs >= LATER_MS;
  return mine.rev > 0 && isOlder && addsTo(found, merged);
};
