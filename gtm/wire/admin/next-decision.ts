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
  const { conversation, pool, tenant, client } = known;
  const query: Query = {
    ...{ id: at.id, channel: "explain", kind: "turn", pool, model: conversation.model, tenant },
    ...{ clientSubnet: client.subnet, conversationId: conversation.id, parentId: null, pinnedTo: null },
    ...{ promptTokens: null, outputTokens: null, outputLimitTokens: null, stateRegion: null },
    receivedAtMs: at.nowMs,
  };
  return decisionOf(query, turnOf(query, client, conversation, world, policy), world, policy);
};
