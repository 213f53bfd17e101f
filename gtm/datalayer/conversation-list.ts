/** Lists of conversations: pages of the store's lists in any order and under any filter, repaired where they have gone wrong. */
import { contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import type { ConversationQuery, FoundConversations, OwnedConversation } from "#gtm/domain/conversation-query.ts";
import type { Clock } from "#shared/clock.ts";
import { leastSizeScore, unlistConversation } from "#shared/conversation-index.ts";
import { unpacked } from "#shared/conversation-record.ts";
import { ConversationId, type RegionId } from "#shared/ids.ts";
import { conversationKey, heldKey, sizesKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { cursorOf, placeIn } from "./conversation-cursor.ts";
import { createWalk, type Listed, type Walk } from "./conversation-walk.ts";

export type ListParts = { readonly store: Store; readonly clock: Clock; readonly regions: readonly RegionId[] };

/** One request reads no more records than this: then its page is short, and its cursor goes on. */
export const MOST_EXAMINED = 500;
/** What a filter may well let through is read first; where it was not enough, the rest is read at once. */
const READ_FIRST = 125;
/** Lists are dated by the clock of whoever wrote them. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * The order and the bounds on size and idle time come from the lists; model, tenant and pool are read from the records.
 *
 * @returns null: the cursor is none of this order
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export const findConversations = async (
  parts: ListParts,
  query: ConversationQuery,
): Promise<FoundConversations | null> => {
  const after = query.cursor === null ? null : placeIn(query.sort, query.cursor);
  if (query.cursor !== null && after === null) return null;
  const walk = walkOf(parts, query, after);
  const page = createPage(query, after, parts.clock);
  while (!page.isFull() && page.examined() < MOST_EXAMINED) {
    const wanted = readNext(query, page.examined());
    const listed = await walk.take(Math.min(wanted, MOST_EXAMINED - page.examined()));
    if (listed.length === 0) return page.end(false);
    for (const one of await readListed(parts, listed)) if (!page.take(one)) return page.end(true);
  }
  return page.end(!(await walk.isOver()));
};

const readNext = (query: ConversationQuery, examined: number): number => {
  if (!isFiltered(query)) return query.limit;
  return examined === 0 ? Math.max(READ_FIRST, query.limit) : MOST_EXAMINED;
};

const createPage = (query: ConversationQuery, after: Listed | null, clock: Clock) => {
  const matches = filterOf(query, clock);
  const items: OwnedConversation[] = [];
  let examined = 0;
  let last = after;
  const isFull = (): boolean => items.length === query.limit;
  return {
    isFull,
    examined: () => examined,
    /** @returns false: it is full, and this one is for the next page */
    take: ({ at, found }: Read): boolean => {
      if (isFull()) return false;
      examined += 1;
      last = at;
      if (found !== null && matches(found)) items.push(found);
      return true;
    },
    end: (isMore: boolean): FoundConversations => ({
      items,
      examined,
      nextCursor: isMore && last !== null ? cursorOf(query.sort, last) : null,
    }),
  };
};

const isFiltered = ({ model, tenantTag, poolTag, minTokens, minIdleMs }: ConversationQuery): boolean =>
  model !== null || tenantTag !== null || poolTag !== null || minTokens > 0 || minIdleMs > 0;

const filterOf = (query: ConversationQuery, clock: Clock) => {
  const latestTurnAtMs = clock.monotonicMs() - query.minIdleMs;
  return ({ conversation, owner }: OwnedConversation): boolean =>
    (query.model === null || conversation.model === query.model) &&
    (query.tenantTag === null || owner.tenantTag === query.tenantTag) &&
    (query.poolTag === null || owner.poolTag === query.poolTag) &&
    contextTokensOf(conversation) >= query.minTokens &&
    (query.minIdleMs === 0 || conversation.lastTurnAtMs <= latestTurnAtMs);
};

const walkOf = ({ store, clock, regions }: ListParts, query: ConversationQuery, after: Listed | null): Walk => {
  const { sort, region, minTokens, minIdleMs } = query;
  const chosen = (region === null ? [...regions] : [region]).sort();
  const latest = minIdleMs === 0 ? Number.POSITIVE_INFINITY : clock.epochMs() - minIdleMs + CLOCKS_DIFFER_MS;
  const byTurn = { store, keyOf: heldKey, min: 0, max: latest };
  switch (sort) {
    case "recent":
      return createWalk({ ...byTurn, regions: chosen, isDescending: true, after });
    case "idle":
      return createWalk({ ...byTurn, regions: chosen, isDescending: false, after });
    case "tokens": {
      const bySize = { store, keyOf: sizesKey, min: leastSizeScore(minTokens), max: Number.MAX_SAFE_INTEGER };
      return createWalk({ ...bySize, regions: chosen, isDescending: true, after });
    }
    case "region":
      return oneAfterTheOther(
        chosen
          .filter((one) => after === null || one >= after.region)
          .map((one) =>
            createWalk({
              ...byTurn,
              regions: [one],
              isDescending: true,
              after: after?.region === one ? after : null,
            }),
          ),
      );
  }
};

const oneAfterTheOther = (walks: readonly Walk[]): Walk => {
  const left = [...walks];
  const isOver = async (): Promise<boolean> => {
    while (left[0] !== undefined && (await left[0].isOver())) left.shift();
    return left.length === 0;
  };
  return {
    take: async (most) => {
      const taken: Listed[] = [];
      while (taken.length < most && !(await isOver()))
        taken.push(...((await left[0]?.take(most - taken.length)) ?? []));
      return taken;
    },
    isOver,
  };
};

type Read = { readonly at: Listed; readonly found: OwnedConversation | null };

/** Records are not written together with the lists: what a list says wrongly is put right here. Names that are no ids go unseen. */
export const readListed = async (
  { store, clock }: Pick<ListParts, "store" | "clock">,
  listed: readonly Listed[],
): Promise<readonly Read[]> => {
  const named = listed.flatMap((at) => {
    const id = ConversationId.safeParse(at.member).data;
    return id === undefined ? [] : [{ at, id }];
  });
  const stored = await store.getMany(named.map(({ id }) => conversationKey(id)));
  const nowMs = clock.monotonicMs();
  const reads = named.map(({ at, id }, nth): Read => {
    const one = stored[nth] ?? null;
    const found = one === null ? null : unpacked(id, one, [], nowMs);
    return { at, found: found !== null && homeOf(found.conversation) === at.region ? found : null };
  });
  const right = new Set(reads.filter(({ found }) => found !== null).map(({ at }) => at));
  await Promise.all(
    listed.filter((at) => !right.has(at)).map(({ region, member }) => unlistConversation(store, region, member)),
  );
  return reads;
};
