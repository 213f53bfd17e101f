/** Writes conversations to the store behind the decisions: claims new ones, moves known ones, by compare-and-set. */
import { contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import { addsTo, keptAt } from "#gtm/domain/conversation-ledger.ts";
import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { listConversation, unlistConversation } from "#shared/conversation-index.ts";
import { packed, unpacked } from "#shared/conversation-record.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store, Stored } from "#shared/store.ts";
import { createWriteQueue, type WriteQueue } from "#shared/write-queue.ts";
import { type ConversationCache, joinedWith, type KnownConversation } from "./conversation-cache.ts";
import { wasReleased } from "./conversation-released.ts";
import type { Degradations } from "./degradations.ts";
import type { StoreFailures } from "./store-failures.ts";

export type ConversationWriterOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly cache: ConversationCache;
  readonly degradations: Pick<Degradations, "set">;
  /** 0 to 1. */
  readonly random: () => number;
};

const TTL_MS = KEYS.conversation.ttlMs;
/** Of more pins that wait for the store the newest are worth most. */
const MOST_WAITING = 10_000;
const MOST_ATTEMPTS = 5;
/** The stated window in which two GTMs may differ. */
const SAME_MOMENT_MS = 2_000;

/** What is added is in the cache already; the revision it carries is the one that it builds on. */
export const createConversationWriter = (
  options: ConversationWriterOptions,
): WriteQueue<ConversationId, KnownConversation> => {
  const { store, clock, metrics, failures, cache } = options;
  const claimsLost = metrics.counter({
    name: "gtm_pin_claims_lost_total",
    help: "New conversations that another GTM had placed already; its choice stands.",
  });
  const dropped = metrics.counter({
    name: "gtm_pins_dropped_total",
    help: "Turns whose pin was not written: too many waited, others were faster again and again, it aged away, it was released, or the record is no record.",
    labels: ["reason"],
  });

  /** The store now has this; a turn that was committed meanwhile goes on top of it and is written next. */
  const settle = (id: ConversationId, written: KnownConversation, stored: KnownConversation): void => {
    const now = queue.get(id);
    if (now === null) return;
    if (now === written) {
      queue.remove(id);
      cache.set(id, stored);
      return;
    }
    const conversation = joinedWith(stored.conversation, now, TTL_MS);
    const { owner, checkedAtMs, isOutdated } = now;
    const renewed = { conversation, owner, checkedAtMs, isOutdated, listedIn: stored.listedIn };
    queue.replace(id, renewed);
    cache.set(id, renewed);
  };
  const giveUp = (id: ConversationId, written: KnownConversation, reason: string): null => {
    if (queue.get(id) === written) queue.remove(id);
    dropped.inc({ reason });
    return null;
  };
  const read = (id: ConversationId, stored: Stored, like: KnownConversation): KnownConversation | null => {
    const nowMs = clock.monotonicMs();
    const found = unpacked(id, stored, like.conversation.refusedBy, nowMs);
    return found === null
      ? null
      : { ...found, checkedAtMs: nowMs, isOutdated: false, listedIn: homeOf(found.conversation) };
  };
  /** @param stands as the store has it now: written by this or an earlier attempt, whose answer was lost */
  const done = async (id: ConversationId, first: KnownConversation, stands: KnownConversation) => {
    const home = homeOf(stands.conversation);
    const { conversation, owner } = stands;
    settle(id, first, { conversation, owner, checkedAtMs: clock.monotonicMs(), isOutdated: false, listedIn: home });
    try {
      await announceChange(store, conversationKey(id), stands.conversation.rev);
      const lastTurnEpochMs = conversation.lastTurnAtMs + clock.epochMs() - clock.monotonicMs();
      await listConversation(store, {
        id,
        region: home,
        lastTurnEpochMs,
        contextTokens: contextTokensOf(conversation),
      });
      for (const listed of new Set([first.listedIn, stands.listedIn])) {
        if (listed !== null && listed !== home) await unlistConversation(store, listed, id);
      }
    } catch (cause) {
      // The pin is written; the others look again within 2 s, and the lists are swept.
      failures("conversation.announce", cause);
    }
  };
  /** @returns the written conversation; null: somebody else was faster, or the key is gone */
  const attempt = async (id: ConversationId, known: KnownConversation, isKeyFree: boolean) => {
    const key = conversationKey(id);
    const { rev } = known.conversation;
    const value = packed(known.conversation, known.owner, rev + 1, clock.monotonicMs());
    const isWritten = isKeyFree
      ? await store.setIfAbsent(key, value, TTL_MS)
      : (await store.compareAndSet(key, rev, value, TTL_MS)).kind === "stored";
    return isWritten ? { ...known, conversation: { ...known.conversation, rev: rev + 1 } } : null;
  };
  /** What of ours goes on top of what stands there; null: nothing, it is settled. */
  const onTopOf = async (
    id: ConversationId,
    first: KnownConversation,
    stored: KnownConversation,
  ): Promise<KnownConversation | null> => {
    // Placed by both at the same moment; a turn that waited for the store to come back is newer than that, or older.
    const aheadMs = first.conversation.lastTurnAtMs - stored.conversation.lastTurnAtMs;
    const isClaim = first.conversation.rev === 0 && aheadMs < SAME_MOMENT_MS;
    const conversation = joinedWith(stored.conversation, first, TTL_MS);
    if (!addsTo(stored.conversation, conversation)) {
      // Ours already: the answer to an earlier attempt was lost. Or another GTM's, which knew as much.
      await done(id, first, stored);
      return null;
    }
    if (!isClaim) return { ...stored, conversation };
    claimsLost.inc();
    settle(id, first, stored);
    return null;
  };
  /** What to try next after somebody else was faster; null: nothing, it is done or hopeless. */
  const afterConflict = async (id: ConversationId, first: KnownConversation, known: KnownConversation) => {
    // Released meanwhile: it must not come back.
    if (queue.get(id) === null) return null;
    const standing = await store.get(conversationKey(id));
    if (standing === null) {
      if (await wasReleased(store, clock, known.conversation)) return giveUp(id, first, "released");
      // The store was wiped: what we know is offered to it.
      return { known, isKeyFree: true };
    }
    const stored = read(id, standing, known);
    if (stored === null) return giveUp(id, first, "refused");
    const next = await onTopOf(id, first, stored);
    return next === null ? null : { known: next, isKeyFree: false };
  };
  const write = async (id: ConversationId, first: KnownConversation): Promise<void> => {
    if (keptAt(first.conversation, clock.monotonicMs(), TTL_MS) === null) {
      giveUp(id, first, "expired");
      return;
    }
    let next = { known: first, isKeyFree: first.conversation.rev === 0 || first.isOffer === true };
    for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
      const written = await attempt(id, next.known, next.isKeyFree);
      if (written !== null) return done(id, first, written);
      const retry = await afterConflict(id, first, next.known);
      if (retry === null) return;
      next = retry;
    }
    giveUp(id, first, "contended");
  };

  const tellUnwritten = (cause: unknown): void => {
    const count = queue.failed();
    const isRefused = cause instanceof OperationalError && cause.code === "GTM_STORE_REFUSED";
    const why = isRefused ? "the store refuses them" : "the store does not answer";
    const reason = `${count} pins are not written, and wait: ${why} (${String(cause)})`;
    options.degradations.set("pins", count === 0 ? null : reason);
  };
  const queue = createWriteQueue<ConversationId, KnownConversation>({
    write,
    onFailed: (cause) => {
      failures("conversation.write", cause);
      tellUnwritten(cause);
    },
    onWritten: () => {
      if (queue.failed() === 0) options.degradations.set("pins", null);
    },
    onDropped: () => dropped.inc({ reason: "too-many" }),
    isUp: store.isUp,
    random: options.random,
    size: metrics.gauge({ name: "gtm_pins_waiting", help: "Conversations that wait to be written to the store." }),
    most: MOST_WAITING,
  });
  return queue;
};
