/** The last turn of each conversation, as it was heard: what the next one is measured against. Bounded. */
import { LRUCache } from "lru-cache";
import type { ConversationId, ModelId, PoolName, RegionId, ReplicaId } from "#shared/ids.ts";

export type PastTurn = {
  readonly region: RegionId;
  readonly model: ModelId;
  readonly replica: ReplicaId | null;
  /** null: not of a configured pool. */
  readonly pool: PoolName | null;
  /** Of the context when it was over; null: unknown. */
  readonly tokens: number | null;
  /** Monotonic ms. */
  readonly atMs: number;
};

export type TurnHistory = {
  /** Notes a turn. @returns the one before it; null: it is the first that was heard */
  readonly followed: (id: ConversationId, turn: PastTurn) => PastTurn | null;
};

/** About 200 octets each. A conversation that is pushed out counts as one that was not followed. */
const MOST = 50_000;

export const createTurnHistory = (): TurnHistory => {
  const last = new LRUCache<ConversationId, PastTurn>({ max: MOST });
  return {
    followed: (id, turn) => {
      const before = last.get(id) ?? null;
      // One that is told late took place before what is known.
      if (before === null || before.atMs <= turn.atMs) last.set(id, turn);
      return before;
    },
  };
};
