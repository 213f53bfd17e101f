/** The latest decisions of this instance, in memory: by id, and newest first under a filter. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Channel, Entry } from "#gtm/steering/ports.ts";
import type { ConversationId, DecisionId } from "#shared/ids.ts";

/** null in a field: any. */
export type DecisionFilter = {
  readonly pool: string | null;
  readonly region: string | null;
  readonly verdict: string | null;
  readonly channel: Channel | null;
  readonly conversation: ConversationId | null;
};

export type DecisionPage = {
  /** Newest first. */
  readonly items: readonly Entry[];
  /** null: that was the last page. */
  readonly nextCursor: string | null;
};

export type DecisionRing = {
  readonly add: (entry: Entry) => void;
  readonly get: (id: DecisionId) => Entry | null;
  /** @param query.cursor of an earlier page; one that has left the ring is one of its oldest */
  readonly list: (query: DecisionFilter & { readonly limit: number; readonly cursor: string | null }) => DecisionPage;
};

export const createDecisionRing = (capacity: number): DecisionRing => {
  const slots: Entry[] = [];
  const byId = new Map<DecisionId, Entry>();
  /** How many were ever added; the next goes to this, modulo the capacity. */
  let added = 0;

  return {
    add: (entry) => {
      const leaving = slots[added % capacity];
      if (leaving !== undefined) byId.delete(leaving.decision.id);
      slots[added % capacity] = entry;
      byId.set(entry.decision.id, entry);
      added += 1;
    },
    get: (id) => byId.get(id) ?? null,
    list: (query) => {
      const newest = added - 1;
      const oldest = Math.max(0, added - capacity);
      const from = query.cursor === null ? newest : Math.min(newest, Number(query.cursor));
      const items: Entry[] = [];
      for (let at = from; at >= oldest; at--) {
        const entry = slots[at % capacity];
        if (entry === undefined || !matches(entry, query)) continue;
        if (items.length === query.limit) return { items, nextCursor: String(at) };
        items.push(entry);
      }
      return { items, nextCursor: null };
    },
  };
};

const matches = ({ query, decision }: Entry, wish: DecisionFilter): boolean =>
  (wish.pool === null || query.pool.name === wish.pool) &&
  (wish.region === null || regionOf(decision.verdict) === wish.region) &&
  (wish.verdict === null || decision.verdict.kind === wish.verdict) &&
  (wish.channel === null || query.channel === wish.channel) &&
  (wish.conversation === null || query.conversationId === wish.conversation);
