/** Decisions as they are recorded, made by the production code; every argument that a test does not name is unremarkable. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Entry, Query } from "#gtm/steering/ports.ts";
import type { DecisionId } from "#shared/ids.ts";
import { aPool, aQuery, aRegion, CONVERSATION, decideIn, type Situation } from "./builders.ts";

export type EntryWish = Partial<Situation> & {
  readonly conversation?: Conversation | null;
  readonly query?: Partial<Query>;
};

/** A turn of a conversation with 1 000 tokens of prompt and 100 of output, by HTTP, in a world of one region: Frankfurt. */
export const anEntry = (wish: EntryWish = {}): Entry => {
  const regions = wish.regions ?? [aRegion("frankfurt")];
  const asked = { conversationId: CONVERSATION, promptTokens: 1_000, outputTokens: 100, ...wish.query };
  const query = aQuery(aPool(regions, wish.pool), asked);
  const decision = decideIn({ ...wish, regions, query: asked });
  return { query, decision: { ...decision, id: query.id }, answer: null, answered: { value: 1 } };
};

/** The n-th decision id: ids sort by it. */
export const decisionId = (at: number): DecisionId => `01JDXV3Z${String(at).padStart(18, "0")}` as DecisionId;
