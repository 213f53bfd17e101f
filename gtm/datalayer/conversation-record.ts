/** A conversation as the store keeps it, packed and with ages for times, and as decisions read it, on the monotonic clock. */
import type { Conversation, Holding } from "#gtm/domain/conversation.ts";
import type { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import { tagOf } from "#shared/pin-token.ts";
import { ConversationRecord, packedConversation } from "#shared/records.ts";
import type { Stored } from "#shared/store.ts";

const TTL_MS = KEYS.conversation.ttlMs;

/** Whose it is and where it was asked for, by tag: what the record says beside the conversation. */
export type Owner = { readonly tenantTag: number; readonly poolTag: number };

export const ownerOf = (tenant: string, pool: PoolName): Owner => ({ tenantTag: tagOf(tenant), poolTag: tagOf(pool) });

/** @param rev the revision that it is written with @param nowMs monotonic; it is written now, with the whole time to live */
export const packed = (conversation: Conversation, owner: Owner, rev: number, nowMs: number): string => {
  const ageSeconds = (atMs: number): number => Math.max(0, Math.floor((nowMs - atMs) / 1_000));
  return packedConversation({
    v: 1,
    rev,
    m: conversation.model,
    t: owner.tenantTag,
    p: owner.poolTag,
    h: conversation.holdings.map(({ region, replica, tokens, atMs }) => [region, replica, tokens, ageSeconds(atMs)]),
    n: conversation.turns,
    l: ageSeconds(conversation.lastTurnAtMs),
  });
};

export type Unpacked = { readonly conversation: Conversation; readonly owner: Owner };

/**
 * @param nowMs monotonic, when the store said it
 * @returns null: it is no record of this version, or it holds nothing
 */
export const unpacked = (
  id: ConversationId,
  stored: Stored,
  refusedBy: readonly RegionId[],
  nowMs: number,
): Unpacked | null => {
  const record = parse(stored.value);
  if (record === null) return null;
  // Every write gives it the whole time to live: what is gone of it has passed since, by the store's clock.
  const writtenAtMs = nowMs - Math.max(0, TTL_MS - (stored.remainingMs ?? TTL_MS));
  const toMonotonic = (ageSeconds: number): number => writtenAtMs - ageSeconds * 1_000;
  const [home, ...others] = record.h.map(
    ([region, replica, tokens, age]): Holding => ({ region, replica, tokens, atMs: toMonotonic(age) }),
  );
  if (home === undefined) return null;
  const { m: model, n: turns, l, rev } = record;
  return {
    conversation: { id, model, holdings: [home, ...others], turns, lastTurnAtMs: toMonotonic(l), rev, refusedBy },
    owner: { tenantTag: record.t, poolTag: record.p },
  };
};

const parse = (value: string): ConversationRecord | null => {
  try {
    return ConversationRecord.safeParse(JSON.parse(value)).data ?? null;
  } catch {
    return null;
  }
};
