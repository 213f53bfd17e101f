/** What a decision means for the ledger: which turns of conversations are served where. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { ServedTurn } from "./conversation-ledger.ts";

/**
 * @returns null: no conversation moves by it: a DNS answer, an explanation, a turn without a conversation, or one that no
 * region serves
 */
export const servedTurnOf = ({ query, decision }: Entry): ServedTurn | null => {
  const region = regionOf(decision.verdict);
  const id = query.conversationId;
  const isTurn = query.kind === "turn" && query.channel === "http" && decision.mode === "enforce";
  if (!isTurn || id === null || region === null || decision.answeredWith !== "regions") return null;
  const { turn, decidedAtMs: atMs } = decision;
  const promptTokens = query.promptTokens ?? turn.contextTokens + turn.newTokens;
  return { id, model: turn.model, region, tokens: promptTokens + turn.outputTokens, atMs };
};
