/** A conversation as the store keeps it, packed and dated by the epoch, and as decisions read it, on the monotonic clock. */
import type { Conversation, Holding } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import { tagOf } from "#shared/pin-token.ts";
import { ConversationRecord, packedConversation } from "#shared/records.ts";

/** Whose it is and where it was asked for, by tag: what the record says beside the conversation. */
export type Owner = { readonly tenantTag: number; readonly poolTag: number };

export const ownerOf = (tenant: string, pool: PoolName): Owner => ({ tenantTag: tagOf(tenant), poolTag: tagOf(pool) });

/** @param rev the revision that it is written with */
export const packed = (conversation: Conversation, owner: Owner, rev: number, clock: Clock): string => {
  const toEpochSeconds = (atMs: number): number =>
    Math.max(0, Math.floor((atMs + clock.epochMs() - clock.monotonicMs()) / 1_000));
  const record: ConversationRecord = {
    v: 1,
    rev,
    m: conversation.model,
    t: owner.tenantTag,
    p: owner.poolTag,
    h: conversation.holdings.map(({ region, replica, tokens, atMs }) => [
      region,
      replica,
      tokens,
      toEpochSeconds(atMs),
    ]),
    n: conversation.turns,
    l: toEpochSeconds(conversation.lastTurnAtMs),
  };
  return packedConversation(record);
};

export type Unpacked = { readonly conversation: Conversation; readonly owner: Owner };

/** @returns null: it is no record of this version, or it holds nothing */
export const unpacked = (
  id: ConversationId,
  value: string,
  refusedBy: readonly RegionId[],
  clock: Clock,
): Unpacked | null => {
  const record = parse(value);
  if (record === null) return null;
  // A record from a clock that runs ahead is not from the future.
  const toMonotonic = (epochSeconds: number): number =>
    clock.monotonicMs() - Math.max(0, clock.epochMs() - epochSeconds * 1_000);
  const [home, ...others] = record.h.map(
    ([region, replica, tokens, at]): Holding => ({ region, replica, tokens, atMs: toMonotonic(at) }),
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
