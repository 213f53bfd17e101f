/** Asks the store for a conversation, for a decision that waits (no longer than it is worth) and behind one that does not. */
import { LRUCache } from "lru-cache";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { keptAt } from "#gtm/domain/conversation-ledger.ts";
import type { Clock } from "#shared/clock.ts";
import { withinDeadline } from "#shared/deadline.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { KnownConversation } from "./conversation-cache.ts";
import type { ReadConversation } from "./conversation-reader.ts";
import { STORE_AWAY, type StoreFailures } from "./store-failures.ts";

export type ConversationLookup = {
  /** @param cached the answer where the store has none in time; null: nothing is cached */
  readonly ask: (id: ConversationId, deadlineMs: number, cached: Conversation | null) => Promise<Conversation | null>;
  /** Brings the cache up to date; never rejects. */
  readonly refresh: (id: ConversationId) => Promise<void>;
  /** Whether the last answer about it came too late, and said nothing of it; asked once, it is forgotten. */
  readonly wasLate: (id: ConversationId) => boolean;
  /** A decision was answered from the cache. */
  readonly countCached: () => void;
};

const TTL_MS = KEYS.conversation.ttlMs;
/** Between a decision and its record. */
const MOST_LATE = 1_000;

export const createConversationLookup = (options: {
  readonly store: Pick<Store, "isUp">;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly read: ReadConversation;
}): ConversationLookup => {
  const { store, clock, failures, read } = options;
  const lookups = options.metrics.counter({
    name: "gtm_conversation_lookups_total",
    help: "Conversations that decisions asked for: cached, found, absent, late (the deadline passed) or failed.",
    labels: ["outcome"],
  });
  const foundLate = options.metrics.counter({
    name: "gtm_conversations_found_late_total",
    help: "Known conversations whose turn was decided as a new one's, because the store's answer came after the deadline; the next turn goes by it.",
  });
  const late = new LRUCache<ConversationId, true>({ max: MOST_LATE });
  const awaitLate = (id: ConversationId, reading: Promise<KnownConversation | null>): void => {
    late.set(id, true);
    // That it failed was not even a late answer, and the deadline has told of it.
    reading.then(
      (found) => (found === null ? undefined : foundLate.inc()),
      () => undefined,
    );
  };
  return {
    wasLate: (id) => late.delete(id),
    countCached: () => lookups.inc({ outcome: "cached" }),
    ask: async (id, deadlineMs, cached) => {
      if (!store.isUp()) {
        lookups.inc({ outcome: "failed" });
        failures("conversation.find", STORE_AWAY);
        return cached;
      }
      const reading = read(id);
      const found = await withinDeadline(reading, deadlineMs);
      if (found.kind === "done") {
        const kept = found.value === null ? null : keptAt(found.value.conversation, clock.monotonicMs(), TTL_MS);
        lookups.inc({ outcome: kept === null ? "absent" : "found" });
        return kept;
      }
      lookups.inc({ outcome: found.kind });
      if (found.kind === "late" && cached === null) awaitLate(id, reading);
      const late = new OperationalError("GTM_STORE_UNREACHABLE", `no answer within ${deadlineMs} ms`);
      failures("conversation.find", found.kind === "late" ? late : found.cause);
      return cached;
    },
    refresh: async (id) => {
      try {
        if (store.isUp()) await read(id);
      } catch (cause) {
        failures("conversation.revalidate", cause);
      }
    },
  };
};
