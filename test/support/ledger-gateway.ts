/** A gateway as far as the ledger sees it: it writes what it measured, by compare-and-set, and says so. */
import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { packed, unpacked } from "#shared/conversation-record.ts";
import type { ConversationId, RegionId, ReplicaId } from "#shared/ids.ts";
import { changedChannel, conversationKey, KEYS, refusedKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";

const TTL_MS = KEYS.conversation.ttlMs;

export const createLedgerGateway = (store: Store, clock: Clock, region: RegionId) => ({
  /** The turn is over: this is what its replica holds. @returns whether the conversation was there, and nobody was faster */
  measured: async (id: ConversationId, replica: ReplicaId, tokens: number): Promise<boolean> => {
    const stored = await store.get(conversationKey(id));
    const nowMs = clock.monotonicMs();
    const found = stored === null ? null : unpacked(id, stored, [], nowMs);
    if (found === null) return false;
    const { conversation, owner } = found;
    const others = conversation.holdings.filter((one) => one.region !== region).slice(0, 2);
    const holdings = [{ region, replica, tokens, atMs: nowMs }, ...others] as const;
    const value = packed({ ...conversation, holdings, lastTurnAtMs: nowMs }, owner, conversation.rev + 1, nowMs);
    const outcome = await store.compareAndSet(conversationKey(id), conversation.rev, value, TTL_MS);
    if (outcome.kind !== "stored") return false;
    await announceChange(store, conversationKey(id), outcome.rev);
    return true;
  },
  refuses: async (id: ConversationId): Promise<void> => {
    await store.put(refusedKey(id), JSON.stringify({ v: 1, region, reason: "queue" }), KEYS.refused.ttlMs);
    await store.announce(changedChannel(), JSON.stringify({ key: refusedKey(id), rev: 0 }));
  },
});
