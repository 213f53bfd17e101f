/** Which gateways refused which conversations within the last seconds: heard at once, read with the conversation, over by themselves. */
import { LRUCache } from "lru-cache";
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { KEYS, refusedKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import { RefusedRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import type { StoreFailures } from "./store-failures.ts";

export type ConversationRefusals = {
  /** Asks the store. Never rejects: a refusal that cannot be read costs no conversation, since it only lasts seconds. */
  readonly read: (id: ConversationId) => Promise<void>;
  /** Regions whose gateway refuses it now, as far as was heard; also of one that the ledger does not know. */
  readonly by: (id: ConversationId) => readonly RegionId[];
  /** The conversation with the regions that refuse it now. */
  readonly appliedTo: (conversation: Conversation) => Conversation;
};

/** At a time. */
const MOST = 10_000;
const NOBODY: readonly RegionId[] = [];

export const createConversationRefusals = (options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
}): ConversationRefusals => {
  const { store, clock } = options;
  const refused = new LRUCache<ConversationId, ReadonlyMap<RegionId, number>>({ max: MOST });
  const heard = options.metrics.counter({
    name: "gtm_refusals_heard_total",
    help: "Conversations that a region's gateway refused, as far as this instance heard; the region is excluded for them for seconds.",
    labels: ["region"],
  });

  /** The key tells of one region, the last that refused: earlier ones stand until they are over. */
  const note = (id: ConversationId, region: RegionId, untilMs: number): void => {
    const standing = refused.get(id);
    const before = standing?.get(region);
    // Read again, the same refusal ends at the same time but for what the reading takes.
    if (before === undefined || untilMs > before + 1_000) heard.inc({ region });
    refused.set(id, new Map(standing).set(region, Math.max(untilMs, before ?? 0)));
  };
  const by = (id: ConversationId): readonly RegionId[] => {
    const regions = refused.size === 0 ? undefined : refused.get(id);
    if (regions === undefined) return NOBODY;
    const nowMs = clock.monotonicMs();
    const standing = [...regions].flatMap(([region, untilMs]) => (untilMs > nowMs ? [region] : []));
    if (standing.length === 0) refused.delete(id);
    return standing;
  };
  return {
    by,
    read: async (id) => {
      try {
        const stored = await store.get(refusedKey(id));
        const record = stored === null ? null : recordIn(stored.value);
        if (stored === null || record === null) return;
        const leftMs = Math.min(stored.remainingMs ?? KEYS.refused.ttlMs, KEYS.refused.ttlMs);
        note(id, record.region, clock.monotonicMs() + leftMs);
      } catch (cause) {
        options.failures("refused.read", cause);
      }
    },
    appliedTo: (conversation) => {
      const refusedBy = by(conversation.id);
      const isUnchanged = refusedBy.length === 0 && conversation.refusedBy.length === 0;
      return isUnchanged ? conversation : { ...conversation, refusedBy };
    },
  };
};

/** A record that is none refuses nothing. */
const recordIn = (value: string): RefusedRecord | null => {
  try {
    return RefusedRecord.safeParse(JSON.parse(value)).data ?? null;
  } catch {
    return null;
  }
};
