/** Where the next turn of each of some conversations would go in a given world, and what it would have to compute again. */
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { Moment } from "./models-served.ts";

export type KnownConversation = {
  readonly conversation: Conversation;
  readonly pool: Pool;
  readonly tenant: string;
  readonly client: Client;
};

export type NextTurn = {
  /** "": no region could serve it. */
  readonly region: string;
  /** Context that is missing there. */
  readonly recomputeTokens: number;
  /** Time of one replica to compute it again. */
  readonly recomputeMs: number;
  /** Until its first token; null: no region serves. */
  readonly ttftMs: number | null;
  /** Everything that it builds on. */
  readonly contextTokens: number;
};

export type NextTurns = {
  /** How many go where; under "" those that no region could serve. */
  readonly byRegion: ReadonlyMap<string, number>;
  readonly recomputeTokens: number;
  readonly recomputeMs: number;
};

export const UNSERVED = "";

/** In the order of the conversations. */
export const nextTurnsIn = (
  world: World,
  conversations: readonly KnownConversation[],
  policy: Policy,
  at: Moment,
): readonly NextTurn[] => conversations.map((known) => nextTurnOf(known, world, policy, at));

export const sumOf = (turns: readonly NextTurn[]): NextTurns => {
  const byRegion = new Map<string, number>();
  let [recomputeTokens, recomputeMs] = [0, 0];
  for (const next of turns) {
    byRegion.set(next.region, (byRegion.get(next.region) ?? 0) + 1);
    recomputeTokens += next.recomputeTokens;
    recomputeMs += next.recomputeMs;
  }
  return { byRegion, recomputeTokens, recomputeMs };
};

const nextTurnOf = (known: KnownConversation, world: World, policy: Policy, at: Moment): NextTurn => {
  const { conversation, pool, tenant, client } = known;
  const query = {
    id: at.id,
    channel: "explain",
    kind: "turn",
    pool,
    model: conversation.model,
    tenant,
    clientSubnet: client.subnet,
    conversationId: conversation.id,
    pinnedTo: null,
    promptTokens: null,
    outputTokens: null,
    outputLimitTokens: null,
    parentId: null,
    stateRegion: null,
    receivedAtMs: at.nowMs,
  } as const;
  const turn = turnOf(query, client, conversation, world, policy);
  const { verdict, considered } = decisionOf(query, turn, world, policy);
  const region = regionOf(verdict);
  const chosen = considered.find((one) => one.region === region);
  if (region === null || chosen?.kind !== "candidate")
    return {
      region: region ?? UNSERVED,
      recomputeTokens: 0,
      recomputeMs: 0,
      ttftMs: null,
      contextTokens: turn.contextTokens,
    };
  return {
    region,
    recomputeTokens: Math.max(0, turn.contextTokens - chosen.plan.heldTokens),
    recomputeMs: chosen.cost.migrationMs,
    ttftMs: chosen.cost.predictedTtftMs,
    contextTokens: turn.contextTokens,
  };
};
