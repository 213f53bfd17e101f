/** Where the next turn of each of some conversations would go in a given world, and what it would have to compute again. */
import { regionOf } from "#gtm/domain/decision.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { KnownConversation } from "./known-conversation.ts";
import type { Moment } from "./models-served.ts";
import { nextDecisionOf } from "./next-decision.ts";

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
  const { turn, verdict, considered } = nextDecisionOf(known, world, policy, at);
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
