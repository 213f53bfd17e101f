/** One request of a conversation, as steering sees it; for DNS, the commitment that an answer is. */
import type { ConversationId, ModelId, RegionId } from "#shared/ids.ts";
import type { Client } from "./client.ts";
import type { Conversation } from "./conversation.ts";
import type { Pool } from "./pool.ts";
import type { MeasuredRoundTrips } from "./round-trips.ts";

/** `prior`: the policy, until enough was seen. */
export type LearntSource = "learnt" | "prior";

export type Turn = {
  /** `turn`: an HTTP request. `cell`: a DNS answer for a client area. `label`: a DNS answer for one conversation. */
  readonly kind: "turn" | "cell" | "label";
  readonly pool: Pool;
  readonly model: ModelId;
  readonly tenant: string;
  readonly client: Client;
  readonly conversationId: ConversationId | null;
  /** What the ledger knows; null for a new conversation and when the store is away. */
  readonly conversation: Conversation | null;
  /** Whose holdings `conversation` has: this is the first turn of a conversation that began from another; null: its own. */
  readonly parentId: ConversationId | null;
  /** Where it is at home: the ledger's word, else the pin token's; for a cell, its previous region. null: nowhere. */
  readonly home: RegionId | null;
  /** L: tokens of the context already computed somewhere; never more than this prompt. */
  readonly contextTokens: number;
  /** Whether L is a guess, because only a pin token says that there is a context. */
  readonly isContextAssumed: boolean;
  /** g: tokens this prompt adds. */
  readonly newTokens: number;
  /** How long the answer is expected to be, never more than it may be. */
  readonly outputTokens: number;
  /**
   * Who says so: the request, turns like this one, or the policy; `limited`: those two expect more than the request allows.
   */
  readonly outputSource: LearntSource | "claimed" | "limited";
  /** What the request allows, such as its `max_tokens`; null: it says nothing. */
  readonly outputLimitTokens: number | null;
  /** pNext and reuse of the pool. */
  readonly nextTurnFraction: number;
  readonly nextTurnSource: LearntSource;
  readonly reuseFraction: number;
  readonly reuseSource: LearntSource;
  /** Of the client's network, where gateways have measured any; null: none. */
  readonly roundTrips: MeasuredRoundTrips | null;
  /** What decides among equals: the conversation, the cell, or the query. */
  readonly hashKey: string;
  /** Where the stored response lies that this turn continues; no other region can serve it. */
  readonly stateRegion: RegionId | null;
  /** Regions whose gateway refused the conversation within the last seconds. */
  readonly refusedBy: readonly RegionId[];
  readonly receivedAtMs: number;
};
