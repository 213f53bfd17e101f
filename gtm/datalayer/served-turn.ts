/** What a decision means for the ledger: which turns of conversations are served where. */

import type { ServedTurn } from "#gtm/domain/conversation-ledger.ts";
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { Entry, Query } from "#gtm/steering/ports.ts";

/**
 * @returns null: no conversation moves by it: a DNS answer, an explanation, a turn without a conversation, or one that no
 * region serves
 */
export const servedTurnOf = ({ query, decision }: Entry): ServedTurn | null => {
  const region = regionOf(decision.verdict);
  const id = query.conversationId;
  const isTurn = query.kind === "turn" && query.channel === "http";
  if (!isTurn || id === null || region === null || decision.answeredWith !== "regions") return null;
  return { id, model: decision.turn.model, region, tokens: heldAfter(query, decision), atMs: decision.decidedAtMs };
};

/**
 * What the region holds once the turn is answered. A request that does not say how long its prompt is (without a body, or
 * compressed) leaves the context as it was known: a list of models that is asked for within a conversation adds nothing.
 */
const heldAfter = (query: Query, { turn }: Decision): number => {
  if (query.promptTokens !== null) return query.promptTokens + turn.outputTokens;
  return turn.contextTokens > 0 ? turn.contextTokens : turn.newTokens;
};
