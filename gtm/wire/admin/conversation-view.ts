/** One conversation, as the admin API shows it: which regions hold how much of it. */
import { z } from "@hono/zod-openapi";
import { type Conversation, contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import type { Policy } from "#gtm/steering/policy.ts";

const HoldingView = z
  .looseObject({
    region: z.string(),
    replica: z.string().nullable(),
    tokens: z.number(),
    ageMs: z.number(),
  })
  .openapi("Holding");

export const ConversationView = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    home: z.string(),
    contextTokens: z.number(),
    turns: z.number(),
    /** Since its last turn. */
    idleMs: z.number(),
    /** Whether its next turn stays unless moving pays; afterwards what is held counts only as cost. */
    isPinned: z.boolean(),
    /** Newest first; the first is home. */
    holdings: z.array(HoldingView),
    refusedBy: z.array(z.string()),
    rev: z.number(),
  })
  .openapi("Conversation");
export type ConversationView = z.infer<typeof ConversationView>;

/** @param nowMs on the instance's monotonic clock */
export const conversationView = (conversation: Conversation, policy: Policy, nowMs: number): ConversationView => {
  const idleMs = Math.max(0, Math.round(nowMs - conversation.lastTurnAtMs));
  return {
    id: conversation.id,
    model: conversation.model,
    home: homeOf(conversation),
    contextTokens: contextTokensOf(conversation),
    turns: conversation.turns,
    idleMs,
    isPinned: idleMs <= policy.pinMs,
    holdings: conversation.holdings.map(({ region, replica, tokens, atMs }) => ({
      region,
      replica,
      tokens,
      ageMs: Math.max(0, Math.round(nowMs - atMs)),
    })),
    refusedBy: [...conversation.refusedBy],
    rev: conversation.rev,
  };
};

export const conversationEtag = (conversation: Conversation): string => `"${conversation.rev}"`;
