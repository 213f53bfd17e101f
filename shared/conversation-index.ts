/** The two lists of a region's conversations in the store, by last turn and by size: written behind the record, swept by the GTMs. */
import type { ConversationId, RegionId } from "./ids.ts";
import { heldKey, sizesKey } from "./keys.ts";
import type { Store } from "./store.ts";

/** An id's digits (octets of a hash) that keep equal sizes apart, so that hardly two members share a score. */
const APART_DIGITS = 5;
const APART = 32 ** APART_DIGITS;
/** A score is an exact integer, at most 2⁵³. */
const MOST_TOKENS = 2 ** 27 - 1;

/** @param tokens 0 or more; above 134 million they count as so many */
export const sizeScore = (id: ConversationId, tokens: number): number =>
  // The last of its 13 digits holds fewer bits than the others.
  leastSizeScore(tokens) + Number.parseInt(id.slice(-1 - APART_DIGITS, -1), 32);

/** The lowest score that a conversation of so many tokens may have. */
export const leastSizeScore = (tokens: number): number => Math.min(Math.ceil(tokens), MOST_TOKENS) * APART;

export type ListedConversation = {
  readonly id: ConversationId;
  /** Whose home it is. */
  readonly region: RegionId;
  readonly lastTurnEpochMs: number;
  readonly contextTokens: number;
};

/** Whoever is listed by size is listed by last turn, too: that list is swept by age. @throws {OperationalError} */
export const listConversation = async (
  store: Pick<Store, "indexAdd">,
  { id, region, lastTurnEpochMs, contextTokens }: ListedConversation,
): Promise<void> => {
  // One after the other in one connection: both are on the region's slot, and arrive in this order.
  await Promise.all([
    store.indexAdd(heldKey(region), id, Math.floor(lastTurnEpochMs)),
    store.indexAdd(sizesKey(region), id, sizeScore(id, contextTokens)),
  ]);
};

/** @param member as the list has it: it may be no id at all @throws {OperationalError} */
export const unlistConversation = async (
  store: Pick<Store, "indexRemove">,
  region: RegionId,
  member: string,
): Promise<void> => {
  await Promise.all([store.indexRemove(sizesKey(region), member), store.indexRemove(heldKey(region), member)]);
};
