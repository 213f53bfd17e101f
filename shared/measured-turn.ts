/** What a gateway measured of the turns that it served: the word that corrects the ledger, calibrates speeds and teaches the GTMs. */
import { z } from "zod";
import { ConversationId, ModelId, RegionId, ReplicaId } from "./ids.ts";

const tokens = z.int().nonnegative().nullable();
const ms = z.number().nonnegative().nullable();

/**
 * `served`: to its end. `refused`: before the first byte, here or by the engine (an answer that is no 2xx).
 * `aborted`: the client went away. `failed`: the engine did.
 */
export const TurnOutcome = z.enum(["served", "refused", "aborted", "failed"]);
export type TurnOutcome = z.infer<typeof TurnOutcome>;

/** One turn. Unknown is null, never 0. */
export const MeasuredTurn = z.looseObject({
  v: z.literal(1),
  region: RegionId,
  replica: ReplicaId.nullable(),
  conversation: ConversationId.nullable(),
  pool: z.string().max(128).nullable(),
  /** Truncated SHA-256 of the tenant's name, 0 to 65 535. */
  tenantTag: z.int().min(0).max(0xffff).nullable(),
  model: ModelId,
  /** The whole prompt, what was cached of it included, also where the interface counts them apart. */
  promptTokens: tokens,
  cachedTokens: tokens,
  completionTokens: tokens,
  /** `completionTokens` is the number of content events: the reply told no usage. A lower bound. */
  isCompletionEstimated: z.boolean().default(false),
  /** Request sent to the engine to the first octet of content; null: none came. */
  ttftMs: ms,
  /** Request sent to the engine to the end of the reply. */
  totalMs: ms,
  /** What of `ttftMs` the gateway takes to have been waiting for the replica. */
  queuedMs: ms,
  /** The client's /24 or /48, never more of an address. */
  clientPrefix: z.string().max(64).nullable(),
  rttMs: ms,
  /** What the GTM expected when it sent the turn here. */
  predictedTtftMs: ms,
  /** Cached tokens that the ledger promised when the turn came. */
  predictedCachedTokens: tokens,
  decision: z.string().max(64).nullable(),
  outcome: TurnOutcome,
  /** How long ago it ended when it was announced; ages, so that no two clocks need to agree. */
  atAgeMs: z.number().nonnegative(),
});
export type MeasuredTurn = z.infer<typeof MeasuredTurn>;

/** Turns of one message on the channel; more wait for the next one. */
export const MOST_TURNS = 500;

/** Channel `turns`: what one gateway measured since its last batch. A lost batch costs learning and nothing else. */
export const TurnBatch = z.looseObject({
  v: z.literal(1),
  region: RegionId,
  gateway: z.string().min(1).max(64),
  /** The gateway's process: each start makes another. */
  boot: z.string().min(1).max(64),
  /** Counts batches of one boot, from 1. */
  seq: z.int().positive(),
  turns: z.array(MeasuredTurn).max(MOST_TURNS),
  /** HMAC-SHA-256 with the region's report key over the canonical JSON (RFC 8785) without this field; null: unsigned. */
  mac: z.string().nullable().default(null),
});
export type TurnBatch = z.infer<typeof TurnBatch>;
