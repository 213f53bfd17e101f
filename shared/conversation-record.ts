/** A conversation as the store keeps it, packed and with ages for times, and as GTMs and gateways read it, on the monotonic clock. */
import type { ConversationId, ModelId, PoolName, RegionId, ReplicaId } from "./ids.ts";
import { KEYS } from "./keys.ts";
import { type ConversationRecord, conversationRecordIn, packedConversation } from "./packed-conversation.ts";
import { tagOf } from "./pin-token.ts";
import type { Stored } from "./store.ts";

/** That a region holds so many tokens of it. */
export type RecordedHolding = {
  readonly region: RegionId;
  /** null: nobody has measured which. */
  readonly replica: ReplicaId | null;
  readonly tokens: number;
  /** Monotonic ms. */
  readonly atMs: number;
};

/** The GTM's `Conversation` is the same, and the compiler sees to it. */
export type RecordedConversation = {
  readonly id: ConversationId;
  readonly model: ModelId;
  /** Newest first, at most three, one a region; the first is home. */
  readonly holdings: readonly [RecordedHolding, ...RecordedHolding[]];
  readonly turns: number;
  /** Monotonic ms. */
  readonly lastTurnAtMs: number;
  /** 0: not in the store yet. */
  readonly rev: number;
  readonly refusedBy: readonly RegionId[];
  /** Somebody ordered it to its home, where it has had no turn since. */
  readonly isHomeOrdered?: true;
};

const TTL_MS = KEYS.conversation.ttlMs;

/** Whose it is and where it was asked for, by tag: what the record says beside the conversation. */
export type Owner = { readonly tenantTag: number; readonly poolTag: number };

export const ownerOf = (tenant: string, pool: PoolName): Owner => ({ tenantTag: tagOf(tenant), poolTag: tagOf(pool) });

/** @param rev the revision that it is written with @param nowMs monotonic; it is written now, with the whole time to live */
export const packed = (conversation: RecordedConversation, owner: Owner, rev: number, nowMs: number): string => {
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
    ...(conversation.isHomeOrdered === true ? { o: 1 as const } : {}),
  });
};

export type Unpacked = { readonly conversation: RecordedConversation; readonly owner: Owner };

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
    ([region, replica, tokens, age]): RecordedHolding => ({ region, replica, tokens, atMs: toMonotonic(age) }),
  );
  if (home === undefined) return null;
  const { m: model, n: turns, l, rev, o } = record;
  const ordered = o === 1 ? { isHomeOrdered: true as const } : {};
  return {
    conversation: {
      ...{ id, model, holdings: [home, ...others], turns, lastTurnAtMs: toMonotonic(l), rev, refusedBy },
      ...ordered,
    },
    owner: { tenantTag: record.t, poolTag: record.p },
  };
};

const parse = (value: string): ConversationRecord | null => {
  try {
    return conversationRecordIn(JSON.parse(value));
  } catch {
    return null;
  }
};
