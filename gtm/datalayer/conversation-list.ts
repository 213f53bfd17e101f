/** The conversations at home in a region, by their last turn: pages of the held indexes, repaired where they have gone wrong. */
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import { ConversationId, type RegionId } from "#shared/ids.ts";
import { conversationKey, heldKey, KEYS } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { unpacked } from "./conversation-record.ts";

export type ConversationPage = {
  /** Latest turn first; may be fewer than asked for though there are more. */
  readonly items: readonly Conversation[];
  /** null: that was the last page. */
  readonly nextCursor: string | null;
};

type Listed = { readonly region: RegionId; readonly member: string; readonly score: number };

/**
 * @param from one region; null: all that are configured
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export const listConversations = async (
  { store, clock, regions }: { readonly store: Store; readonly clock: Clock; readonly regions: readonly RegionId[] },
  from: { readonly region: RegionId | null; readonly limit: number; readonly cursor: string | null },
): Promise<ConversationPage> => {
  const at = cursorOf(from.cursor);
  const listed: Listed[] = [];
  for (const region of from.region === null ? regions : [from.region]) {
    const members = await store.indexRange(heldKey(region), 0, at?.score ?? Number.MAX_SAFE_INTEGER);
    for (const { member, score } of members) listed.push({ region, member, score });
  }
  const rest = listed.sort(latestFirst).filter((one) => at === null || latestFirst(one, at) > 0);
  const page = rest.slice(0, from.limit);
  const items = await read(store, clock, page);
  const last = page.at(-1);
  const isMore = rest.length > page.length && last !== undefined;
  return { items, nextCursor: isMore ? `${last.score}:${last.member}` : null };
};

/** Removes what has aged out of the index. @throws {OperationalError} GTM_STORE_UNREACHABLE */
export const sweepHeld = async (store: Store, clock: Clock, region: RegionId): Promise<void> => {
  const old = await store.indexRange(heldKey(region), 0, clock.epochMs() - KEYS.conversation.ttlMs);
  for (const { member } of old.slice(0, MOST_SWEPT)) await store.indexRemove(heldKey(region), member);
};

/** A sweep is never more than a moment's work; what is left is swept the next time. */
const MOST_SWEPT = 5_000;

const read = async (store: Store, clock: Clock, page: readonly Listed[]): Promise<readonly Conversation[]> => {
  const named = page.map((one) => ({ ...one, id: ConversationId.safeParse(one.member).data ?? null }));
  const ids = named.map(({ id }) => id).filter((id) => id !== null);
  const values = new Map(
    (await store.getMany(ids.map(conversationKey))).map((stored, at) => [ids[at], stored?.value ?? null]),
  );
  const items: Conversation[] = [];
  for (const { id, region, member } of named) {
    const value = id === null ? null : (values.get(id) ?? null);
    const found = id === null || value === null ? null : unpacked(id, value, [], clock);
    if (found !== null && homeOf(found.conversation) === region) items.push(found.conversation);
    // The index is not written together with the conversation: what it says wrongly is put right here.
    else await store.indexRemove(heldKey(region), member);
  }
  return items;
};

const latestFirst = (a: Pick<Listed, "score" | "member">, b: Pick<Listed, "score" | "member">): number =>
  b.score - a.score || (a.member === b.member ? 0 : a.member < b.member ? -1 : 1);

/** null: from the start; also for what is no cursor of ours. */
const cursorOf = (cursor: string | null): Pick<Listed, "score" | "member"> | null => {
  const [, score, member] = /^([0-9]{1,16}):(.+)$/.exec(cursor ?? "") ?? [];
  return score === undefined || member === undefined ? null : { score: Number(score), member };
};
