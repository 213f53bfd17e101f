/** One conversation, as the admin API shows it: which regions hold how much of it, and how its latest turns went. */
import { z } from "@hono/zod-openapi";
import { type Conversation, contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { KeptTurn } from "./conversation-turns.ts";

const HoldingView = z
  .looseObject({
    region: z.string(),
    replica: z.string().nullable(),
    tokens: z.number(),
    ageMs: z.number(),
  })
  .openapi("Holding");

const VIEW = {
  id: z.string(),
  /** Where it was asked for; null: a pool that is no longer configured. */
  pool: z.string().nullable(),
  model: z.string(),
  home: z.string(),
  /** Somebody ordered it to its home, and it has had no turn since. */
  isHomeOrdered: z.boolean(),
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
};
export const ConversationView = z.looseObject(VIEW).openapi("Conversation");
export type ConversationView = z.infer<typeof ConversationView>;

const TurnView = z
  .looseObject({
    endedAt: z.string(),
    region: z.string(),
    replica: z.string().nullable(),
    /** Null where the gateway, or the engine, did not say. */
    promptTokens: z.number().nullable(),
    cachedTokens: z.number().nullable(),
    /** What the ledger promised of `cachedTokens` when the turn came. */
    promisedTokens: z.number().nullable(),
    ttftMs: z.number().nullable(),
    predictedTtftMs: z.number().nullable(),
    outcome: z.enum(["served", "refused", "aborted", "failed"]),
    decision: z.string().nullable(),
  })
  .openapi("MeasuredTurn");

export const ConversationDetail = z
  .looseObject({
    ...VIEW,
    /** Newest first: the latest eight that gateways measured since this instance began. */
    history: z.array(TurnView),
  })
  .openapi("ConversationDetail");
export type ConversationDetail = z.infer<typeof ConversationDetail>;

export type ViewParts = {
  readonly policy: Policy;
  /** On the instance's monotonic clock. */
  readonly nowMs: number;
  readonly pool: string | null;
};

export const conversationView = (conversation: Conversation, { policy, nowMs, pool }: ViewParts): ConversationView => {
  const idleMs = Math.max(0, Math.round(nowMs - conversation.lastTurnAtMs));
  return {
    id: conversation.id,
    pool,
    model: conversation.model,
    home: homeOf(conversation),
    isHomeOrdered: conversation.isHomeOrdered === true,
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

export const turnView = (turn: KeptTurn): z.infer<typeof TurnView> => {
  const { endedAtMs, predictedCachedTokens, ...rest } = turn;
  return { endedAt: new Date(endedAtMs).toISOString(), promisedTokens: predictedCachedTokens, ...rest };
};

export const conversationEtag = (conversation: Conversation): string => `"${conversation.rev}"`;
