/** Conversation stores on one store, as several GTMs have them, for the tests beside this file. */
import assert from "node:assert/strict";
import { after } from "node:test";
import { createConversationStore } from "#gtm/datalayer/conversation-store.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId } from "#shared/ids.ts";
import { conversationKey, heldKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aRegion, CONVERSATION, NOW_MS, regionId } from "#test/support/builders.ts";
import { anEntry, type EntryWish } from "#test/support/entry-builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const running: { readonly stop: () => Promise<void> }[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

export const NAMES = ["frankfurt", "paris", "virginia"] as const;

const startOne = async (store: Store, clock: Clock) => {
  const [log, metrics] = [recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log, metrics });
  const conversations = createConversationStore({
    ...{
      store,
      clock,
      metrics,
      degradations,
      failures: createStoreFailures({ log, metrics, clock }),
      policy: DEFAULT_POLICY,
    },
    regions: NAMES.map(regionId),
    random: () => 0,
  });
  running.push(conversations);
  await conversations.start();
  const { find } = conversations;
  return {
    ...conversations,
    log,
    degraded: () => degradations.current().map(({ what, reason }) => `${what}: ${reason}`),
    find: (deadlineMs = 50, id: ConversationId = CONVERSATION) => find(id, deadlineMs),
    /** A turn served in a region, now. */
    turn: (region: string, wish: EntryWish = {}) => {
      const entry = anEntry({ regions: [aRegion(region)], ...wish });
      const decision = { ...entry.decision, decidedAtMs: clock.monotonicMs() };
      conversations.commit({ ...entry, decision });
    },
    counted: (name: string, labels: Readonly<Record<string, string>> = {}) => metricValue(metrics, name, labels),
    lookups: (outcome: string) => metricValue(metrics, "gtm_conversation_lookups_total", { outcome }),
  };
};

export const setUp = async () => {
  const clock = createManualClock();
  // Builders' worlds are taken at that moment.
  clock.advance(NOW_MS - clock.monotonicMs());
  const store = createFallibleStore(createMemoryStore(clock));
  const stored = async (id: ConversationId = CONVERSATION): Promise<ConversationRecord | null> => {
    const value = (await store.get(conversationKey(id)))?.value;
    return value === undefined ? null : ConversationRecord.parse(JSON.parse(value));
  };
  return {
    clock,
    store,
    stored,
    startOne: () => startOne(store, clock),
    /** Regions whose index lists the conversation. */
    listedIn: async (): Promise<readonly string[]> => {
      const listed: string[] = [];
      for (const name of NAMES) {
        const members = await store.indexRange(heldKey(regionId(name)), 0, Number.MAX_SAFE_INTEGER);
        if (members.some(({ member }) => member === CONVERSATION)) listed.push(name);
      }
      return listed;
    },
    untilStored: (rev: number) => until(async () => (await stored())?.rev === rev, `revision ${rev}`),
  };
};

export const homeIn = (record: ConversationRecord | null): string => {
  assert.ok(record);
  return record.h[0]?.[0] ?? "";
};
