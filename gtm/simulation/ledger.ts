/** The ledger of conversations as the store keeps it: one for all GTMs, corrected by gateways, forgotten after an hour. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import { afterTurn, keptAt, type ServedTurn } from "#gtm/domain/conversation-ledger.ts";
import { createOldest } from "#gtm/domain/oldest.ts";
import type { ConversationId, RegionId, ReplicaId } from "#shared/ids.ts";

export type Ledger = {
  readonly find: (id: ConversationId, nowMs: number) => Conversation | null;
  /** A turn was sent there. */
  readonly commit: (turn: ServedTurn) => void;
  /**
   * What a gateway measured of the turn that was sent there last.
   *
   * @returns the conversation as it is now; null: it has moved on since, or nobody knows it
   */
  readonly measured: (id: ConversationId, region: RegionId, replica: ReplicaId, tokens: number) => Conversation | null;
};

/** As the store's key of a conversation lives. */
const KEPT_MS = 3_600_000;

export const createLedger = (): Ledger => {
  /** In the order of their last turns, so that the first to be forgotten comes first. */
  const conversations = new Map<ConversationId, Conversation>();
  const oldest = createOldest(conversations, ({ lastTurnAtMs }) => lastTurnAtMs);
  const forgetOld = (nowMs: number): void => {
    for (let first = oldest(); first !== null; first = oldest()) {
      const [id, { lastTurnAtMs }] = first;
      if (nowMs - lastTurnAtMs < KEPT_MS) return;
      conversations.delete(id);
    }
  };
  return {
    find: (id, nowMs) => {
      const known = conversations.get(id);
      return known === undefined ? null : keptAt(known, nowMs, KEPT_MS);
    },
    commit: (turn) => {
      const after = afterTurn(conversations.get(turn.id) ?? null, turn, KEPT_MS);
      conversations.delete(turn.id);
      conversations.set(turn.id, after);
      forgetOld(turn.atMs);
    },
    measured: (id, region, replica, tokens) => {
      const before = conversations.get(id);
      if (before?.holdings[0].region !== region) return null;
      const [home, ...others] = before.holdings;
      const after: Conversation = { ...before, holdings: [{ ...home, replica, tokens }, ...others] };
      conversations.set(id, after);
      return after;
    },
  };
};
