/** The conversations at home in a region, by their last turn: pages of the held indexes, repaired where they have gone wrong. */
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import { unpacked } from "#shared/conversation-record.ts";
import { ConversationId, type RegionId } from "#shared/ids.ts";
import { conversationKey, heldKey, KEYS } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";

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
    // Of equal scores some may have been shown already: the rest must still fill a page.
    const most = from.limit + 1 + MOST_OF_ONE_SCORE;
    const members = await store.indexTop(heldKey(region), at?.score ?? Number.MAX_SAFE_INTEGER, most);
    for (const { member, score } of members) listed.push({ region, member, score });
  }
  const rest = listed.sort(latestFirst).filter((one) => at === null || latestFirst(one, at) > 0);
  const page = rest.slice(0, from.limit);
  const items = await read(store, clock, page);
  const last = page.at(-1);
  const isMore = rest.length > page.length && last !== undefined;
  return { items, nextCursor: isMore ? `${last.score}:${last.member}` : null };
};

/** Turns of one millisecond in one region. */
const MOST_OF_ONE_SCORE = 100;

/**
 * Takes off the index what the store no longer has. Whoever is still there was listed by a clock that is behind ours, and is
 * dated anew. @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export const sweepHeld = async (store: Store, clock: Clock, region: RegionId): Promise<void> => {
  const before = clock.epochMs() - KEYS.conversation.ttlMs;
  const old = await store.indexRange(heldKey(region), 0, before, MOST_SWEPT);
  for (let from = 0; from < old.length; from += SWEPT_AT_ONCE) {
    const some = old.slice(from, from + SWEPT_AT_ONCE).map((one) => ({ region, ...one }));
    for (const { lastTurnAtMs, id } of await read(store, clock, some)) {
      await store.indexAdd(heldKey(region), id, Math.floor(lastTurnAtMs + clock.epochMs() - clock.monotonicMs()));
    }
  }
};

/** A sweep is never more than a moment's work; what is left is swept the next time. */
const MOST_SWEPT = 5_000;
const SWEPT_AT_ONCE = 250;

const read = async (store: Store, clock: Clock, page: readonly Listed[]): Promise<readonly Conversation[]> => {
  const items: Conversation[] = [];
  const removals: Promise<void>[] = [];
  const ids = page.map(({ member }) => ConversationId.safeParse(member).data ?? null);
  const found = await Promise.all(ids.map(async (id) => (id === null ? null : store.get(conversationKey(id)))));
  const nowMs = clock.monotonicMs();
  for (const [at, { region, member }] of page.entries()) {
    const [id = null, stored = null] = [ids[at], found[at]];
    const conversation = id === null || stored === null ? null : unpacked(id, stored, [], nowMs)?.conversation;
    if (conversation && homeOf(conversation) === region) items.push(conversation);
    // The index is not written together with the conversation: what it says wrongly is put right here.
    else removals.push(store.indexRemove(heldKey(region), member));
  }
  await Promise.all(removals);
  return items;
};

const latestFirst = (a: Pick<Listed, "score" | "member">, b: Pick<Listed, "score" | "member">): number =>
  b.score - a.score || (a.member === b.member ? 0 : a.member < b.member ? -1 : 1);

/** null: from the start; also for what is no cursor of ours. */
const cursorOf = (cursor: string | null): Pick<Listed, "score" | "member"> | null => {
  const [, score, member] = /^([0-9]{1,16}):(.+)$/.exec(cursor ?? "") ?? [];
  return score === undefined || member === undefined ? null : { score: Number(score), member };
};
