/** The decision that the next turn of a conversation would get in a given world. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { KnownConversation } from "./known-conversation.ts";
import type { Moment } from "./models-served.ts";

/** Its prompt is unknown: the usual one on top of its context. */
export const nextDecisionOf = (known: KnownConversation, world: World, policy: Policy, at: Moment): Decision => {
  const query = queryOf(known, null, at);
  return decisionOf(query, turnOf(query, known.client, known.conversation, world, policy), world, policy);
};

/** As nobody here remembers it. @param promptTokens what its client sends again */
export const forgottenDecisionOf = (
  known: KnownConversation,
  { promptTokens, at }: { readonly promptTokens: number; readonly at: Moment },
  world: World,
  policy: Policy,
): Decision => {
  const query = queryOf(known, promptTokens, at);
  return decisionOf(query, turnOf(query, known.client, null, world, policy), world, policy);
};

const queryOf = (
  { conversation, pool, tenant, client }: KnownConversation,
  promptTokens: number | null,
  at: Moment,
): Query => ({
  ...{ id: at.id, channel: "explain", kind: "turn", pool, model: conversation.model, tenant },
  ...{ clientSubnet: client.subnet, conversationId: conversation.id, parentId: null, pinnedTo: null },
  ...{ promptTokens, outputTokens: null, outputLimitTokens: null, stateRegion: null },
  receivedAtMs: at.nowMs,
});
