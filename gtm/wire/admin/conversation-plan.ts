/** What ordering a conversation to another region would do: decided beforehand by the code that decides its turns. */
import { z } from "@hono/zod-openapi";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import { afterTurn } from "#gtm/domain/conversation-ledger.ts";
import { movedTo } from "#gtm/domain/conversation-move.ts";
import type { OwnedConversation } from "#gtm/domain/conversation-query.ts";
import { type Candidate, type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import { exclusionClause } from "#gtm/steering/exclusion-text.ts";
import { explain } from "#gtm/steering/explain.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import { tagOf } from "#shared/pin-token.ts";
import { conversationEtag } from "./conversation-view.ts";
import type { KnownConversation } from "./known-conversation.ts";
import { forgottenDecisionOf, nextDecisionOf } from "./next-decision.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";
import { UNKNOWN_CLIENT } from "./unknown-client.ts";

export const MovePlan = z
  .looseObject({
    conversation: z.string(),
    /** Of the conversation as it was looked at; send it as If-Match. */
    etag: z.string(),
    from: z.string(),
    to: z.string(),
    contextTokens: z.number(),
    /** Of the context, what the region does not hold and would compute with the next turn. */
    recomputeTokens: z.number(),
    recomputeMs: z.number(),
    /** Until the first token of the next turn: there, and where it would go without the order; null: nowhere. */
    ttftMs: z.number(),
    unmoved: z.looseObject({ region: z.string().nullable(), ttftMs: z.number().nullable() }),
    /** Where the turn after that would go if nothing else changed, and why. */
    afterwards: z.looseObject({ region: z.string().nullable(), isMovedBack: z.boolean(), explanation: z.string() }),
    /** Whether a recent decision told where its client is; else every region counts as equally far. */
    isLocated: z.boolean(),
  })
  .openapi("MovePlan");
export type MovePlan = z.infer<typeof MovePlan>;

const NextTurn = z.looseObject({ region: z.string().nullable(), ttftMs: z.number().nullable() });

export const ReleasePlan = z
  .looseObject({
    conversation: z.string(),
    /** False: nothing is known of it, so that there is nothing to forget. */
    isKnown: z.boolean(),
    /** Send it as If-Match; null as the rest: nothing is known of it. */
    etag: z.string().nullable(),
    from: z.string().nullable(),
    /** Context that would be forgotten here; engines keep what they keep. */
    contextTokens: z.number().nullable(),
    /** Its next turn as things are, and once it is forgotten; region null: nowhere. */
    unreleased: NextTurn.nullable(),
    released: NextTurn.nullable(),
  })
  .openapi("ReleasePlan");
export type ReleasePlan = z.infer<typeof ReleasePlan>;

type Parts = { readonly ports: AdminPorts; readonly clock: Clock };

/** @throws {ProblemError} 409 where the region is its home already, or may not serve its next turn */
export const planMove = ({ ports, clock }: Parts, owned: OwnedConversation, to: RegionId): MovePlan => {
  const { conversation } = owned;
  const from = homeOf(conversation);
  if (from === to) throw refuse("state-conflict", `Conversation ${conversation.id} is at home in ${to} already.`);
  const { known, isLocated } = knownOf(ports, owned);
  const decide = (one: Conversation): Decision =>
    nextDecisionOf({ ...known, conversation: one }, ports.steering.world(), ports.policy, {
      nowMs: clock.monotonicMs(),
      id: ports.newDecisionId(),
    });
  const moved = decide(movedTo(conversation, to));
  const there = servingIn(moved, to, conversation);
  const unmoved = decide(conversation);
  return {
    ...{ conversation: conversation.id, etag: conversationEtag(conversation), from, to, isLocated },
    contextTokens: contextTokensOf(conversation),
    recomputeTokens: Math.round(Math.max(0, moved.turn.contextTokens - there.plan.heldTokens)),
    recomputeMs: Math.round(there.cost.migrationMs),
    ttftMs: Math.round(there.cost.predictedTtftMs),
    unmoved: { region: regionOf(unmoved.verdict), ttftMs: ttftOf(unmoved) },
    afterwards: afterwardsOf(decide(servedIn(to, conversation, moved)), to, ports),
  };
};

/** @throws {ProblemError} 409 where no pool has its model any more */
export const planRelease = (
  { ports, clock }: Parts,
  owned: OwnedConversation | null,
  id: ConversationId,
): ReleasePlan => {
  if (owned === null) {
    return {
      ...{ conversation: id, isKnown: false, etag: null, from: null },
      ...{ contextTokens: null, unreleased: null, released: null },
    };
  }
  const { conversation } = owned;
  const { known } = knownOf(ports, owned);
  const contextTokens = contextTokensOf(conversation);
  const at = { nowMs: clock.monotonicMs(), id: ports.newDecisionId() };
  const before = nextDecisionOf(known, ports.steering.world(), ports.policy, at);
  // Its client sends the whole context again: nobody here knows of it any more.
  const after = forgottenDecisionOf(known, { promptTokens: contextTokens, at }, ports.steering.world(), ports.policy);
  return {
    ...{ conversation: id, isKnown: true, etag: conversationEtag(conversation), from: homeOf(conversation) },
    contextTokens,
    unreleased: { region: regionOf(before.verdict), ttftMs: ttftOf(before) },
    released: { region: regionOf(after.verdict), ttftMs: ttftOf(after) },
  };
};

/** @throws {ProblemError} 409 */
const servingIn = (decision: Decision, region: RegionId, { id }: Conversation): Candidate => {
  const there = decision.considered.find((one) => one.region === region);
  if (there?.kind === "candidate" && regionOf(decision.verdict) === region) return there;
  const why = there?.kind === "excluded" ? exclusionClause(there.exclusion) : "is not where its pool would send it";
  throw refuse("state-conflict", `The next turn of conversation ${id} could not go to ${region}: it ${why}.`);
};

const ttftOf = ({ verdict, considered }: Decision): number | null => {
  const chosen = considered.find((one) => one.region === regionOf(verdict));
  return chosen?.kind === "candidate" ? Math.round(chosen.cost.predictedTtftMs) : null;
};

/** As it will be known once its next turn was served there. */
const servedIn = (region: RegionId, conversation: Conversation, { turn, decidedAtMs }: Decision): Conversation => {
  const tokens = turn.contextTokens + turn.newTokens + turn.outputTokens;
  const served = { id: conversation.id, model: conversation.model, region, tokens, atMs: decidedAtMs };
  return afterTurn(movedTo(conversation, region), served, KEYS.conversation.ttlMs);
};

const afterwardsOf = (decision: Decision, to: RegionId, { policy }: AdminPorts): MovePlan["afterwards"] => {
  const region = regionOf(decision.verdict);
  return { region, isMovedBack: region !== to, explanation: explain(decision, policy).explanation };
};

/** With what its last decision says of who leads it, where this instance remembers one. */
const knownOf = (
  { decisions, pools }: AdminPorts,
  { conversation, owner }: OwnedConversation,
): { readonly known: KnownConversation; readonly isLocated: boolean } => {
  const any = { pool: null, region: null, verdict: null, cursor: null };
  const [last] = decisions.list({ ...any, channel: "http", conversation: conversation.id, limit: 1 }).items;
  const pool = last?.query.pool ?? poolTagged(pools, owner.poolTag) ?? poolServing(pools, conversation);
  if (pool === null) {
    throw refuse("state-conflict", `No pool has ${conversation.model}, the model of conversation ${conversation.id}.`);
  }
  const client = last?.decision.turn.client ?? UNKNOWN_CLIENT;
  return {
    known: { conversation, pool, tenant: last?.query.tenant ?? "default", client },
    isLocated: last !== undefined,
  };
};

/** By the configuration's pools, which are others once it has changed. */
const byTag = new WeakMap<readonly Pool[], ReadonlyMap<number, Pool>>();

/** A tag is a hash, and a list asks for that of each conversation. */
export const poolTagged = (pools: readonly Pool[], poolTag: number): Pool | null => {
  const known = byTag.get(pools) ?? new Map([...pools].reverse().map((pool) => [tagOf(pool.name), pool]));
  byTag.set(pools, known);
  return known.get(poolTag) ?? null;
};

const poolServing = (pools: readonly Pool[], { model }: Conversation): Pool | null =>
  pools.find(({ models }) => models.includes(model)) ?? null;
