/** Writes conversations to the store behind the decisions: claims new ones, moves known ones, by compare-and-set. */
import { homeOf } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId } from "#shared/ids.ts";
import { conversationKey, heldKey, KEYS } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { announceChange } from "./changes.ts";
import type { ConversationCache, KnownConversation } from "./conversation-cache.ts";
import { mergedWith } from "./conversation-ledger.ts";
import { packed, unpacked } from "./conversation-record.ts";
import type { StoreFailures } from "./store-failures.ts";
import { createWriteQueue, type WriteQueue } from "./write-queue.ts";

export type ConversationWriterOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly cache: ConversationCache;
  /** 0 to 1. */
  readonly random: () => number;
};

const TTL_MS = KEYS.conversation.ttlMs;
/** Of more pins that wait for the store the newest are worth most. */
const MOST_WAITING = 10_000;
const MOST_ATTEMPTS = 5;

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
    help: "Turns whose pin was not written: too many waited, others were faster again and again, or the record is no record.",
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
    const conversation = mergedWith(stored.conversation, now.conversation, TTL_MS);
    const renewed = { ...now, listedIn: stored.listedIn, conversation };
    queue.replace(id, renewed);
    cache.set(id, renewed);
  };
  const giveUp = (id: ConversationId, written: KnownConversation, reason: string): void => {
    if (queue.get(id) === written) queue.remove(id);
    dropped.inc({ reason });
  };
  const read = (id: ConversationId, value: string, like: KnownConversation): KnownConversation | null => {
    const found = unpacked(id, value, like.conversation.refusedBy, clock);
    return found === null ? null : { ...found, checkedAtMs: clock.monotonicMs(), listedIn: homeOf(found.conversation) };
  };
  const done = async (id: ConversationId, first: KnownConversation, known: KnownConversation, rev: number) => {
    const home = homeOf(known.conversation);
    const conversation = { ...known.conversation, rev };
    settle(id, first, { ...known, conversation, checkedAtMs: clock.monotonicMs(), listedIn: home });
    try {
      await announceChange(store, conversationKey(id), rev);
      const lastTurnEpochMs = Math.floor(conversation.lastTurnAtMs + clock.epochMs() - clock.monotonicMs());
      await store.indexAdd(heldKey(home), id, lastTurnEpochMs);
      if (known.listedIn !== null && known.listedIn !== home) await store.indexRemove(heldKey(known.listedIn), id);
    } catch (cause) {
      // The pin is written; the others look again within 2 s, and the lists are swept.
      failures("conversation.announce", cause);
    }
  };

  /** @returns whether the key was free */
  const claim = async (id: ConversationId, first: KnownConversation): Promise<boolean> => {
    const rev = first.conversation.rev + 1;
    const isMine = await store.setIfAbsent(
      conversationKey(id),
      packed(first.conversation, first.owner, rev, clock),
      TTL_MS,
    );
    if (isMine) await done(id, first, first, rev);
    return isMine;
  };
  const claimOrYield = async (id: ConversationId, first: KnownConversation): Promise<void> => {
    if (await claim(id, first)) return;
    claimsLost.inc();
    const stored = await store.get(conversationKey(id));
    const winner = stored === null ? null : read(id, stored.value, first);
    if (winner === null) giveUp(id, first, "refused");
    else settle(id, first, winner);
  };
  /** What to try next after somebody else was faster; null: nothing, it is done or hopeless. */
  const afterConflict = async (
    id: ConversationId,
    first: KnownConversation,
    known: KnownConversation,
    value: string | null,
  ): Promise<KnownConversation | null> => {
    // Released meanwhile: it must not come back.
    if (queue.get(id) === null) return null;
    // The store was wiped: what we know is offered to it.
    if (value === null) return (await claim(id, first)) ? null : known;
    const stored = read(id, value, known);
    if (stored === null) {
      giveUp(id, first, "refused");
      return null;
    }
    // As coarse as the stored one: turns of one second ran in parallel, and parallel turns keep the home.
    const mine = read(id, packed(known.conversation, known.owner, known.conversation.rev, clock), known) ?? known;
    return { ...stored, conversation: mergedWith(stored.conversation, mine.conversation, TTL_MS) };
  };
  const move = async (id: ConversationId, first: KnownConversation): Promise<void> => {
    let known = first;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const { rev } = known.conversation;
      const value = packed(known.conversation, known.owner, rev + 1, clock);
      const outcome = await store.compareAndSet(conversationKey(id), rev, value, TTL_MS);
      if (outcome.kind === "stored") return done(id, first, known, outcome.rev);
      const next = await afterConflict(id, first, known, outcome.value);
      if (next === null) return;
      known = next;
    }
    giveUp(id, first, "contended");
  };

  const queue = createWriteQueue<ConversationId, KnownConversation>({
    write: (id, known) => (known.conversation.rev === 0 ? claimOrYield(id, known) : move(id, known)),
    onFailed: (cause) => failures("conversation.write", cause),
    onDropped: () => dropped.inc({ reason: "too-many" }),
    isUp: store.isUp,
    random: options.random,
    size: metrics.gauge({ name: "gtm_pins_waiting", help: "Conversations that wait to be written to the store." }),
    most: MOST_WAITING,
  });
  return queue;
};
