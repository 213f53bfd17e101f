/** What GTMs keep in the store, beside the agents' reports: each value's schema and format version. */
import { z } from "zod";
import { ConversationId, ModelId, RegionId, ReplicaId } from "./ids.ts";
import { DrainScheduleRecord, OperationRecord } from "./operation-record.ts";

/** What one GTM answers to questions that all of them ask themselves, and what those answers rest on; bounded. */
export const InstanceSays = z.looseObject({
  /** Fingerprints of the configuration's parts that decide. */
  config: z.record(z.string().max(32), z.string().max(32)),
  ordersRev: z.int().nonnegative(),
  /** Whether ages stood still, as they do while the store or most regions are silent. */
  areAgesFrozen: z.boolean(),
  /** Of each agent: `region/agent`, its boot, the newest report heard. */
  reports: z.array(z.tuple([z.string().max(192), z.string().max(64), z.int().nonnegative()])).max(512),
  /** Question and region; null: no region serves. */
  answers: z.array(z.tuple([z.string().max(192), RegionId.nullable()])).max(128),
});
export type InstanceSays = z.infer<typeof InstanceSays>;

/** `sent:{instance}`: what one GTM sent in the last 30 s; times are ages, so that clocks need not agree. */
export const SentRecord = z.looseObject({
  v: z.literal(1),
  sends: z.array(
    z.object({
      region: RegionId,
      model: ModelId,
      replica: ReplicaId.nullable(),
      /** Age of the 100 ms slot of arrival; negative while the turn is still on its way. */
      arrivalAgeMs: z.number(),
      /** Prefill work sent in this slot, summed. */
      workMs: z.number().nonnegative(),
    }),
  ),
  /** Σ contextTokens × pNext of turns committed within the pin's time. */
  live: z.array(z.object({ region: RegionId, model: ModelId, tokens: z.number().nonnegative() })),
  /** Cells' regions, so that several GTMs keep the same. */
  cells: z.array(z.object({ cell: z.string().max(256), region: RegionId })),
  /** The process: each start makes another. Empty: an earlier version, which does not say. */
  boot: z.string().max(64).default(""),
  version: z.string().max(64).default(""),
  says: InstanceSays.nullable().default(null),
});
export type SentRecord = z.infer<typeof SentRecord>;

export const AdminState = z.enum(["active", "drain-new", "drain-all", "down", "forced-up"]);
export type AdminState = z.infer<typeof AdminState>;

/** What a person ordered about one region; without an expiry it stands until taken back. */
export const RegionOrder = z.looseObject({
  region: RegionId,
  admin: AdminState,
  comment: z.string().min(1).max(500),
  actor: z.string().min(1).max(128),
  orderedAtMs: z.int().positive(),
  expiresAtMs: z.int().positive().nullable(),
  /** Of a `drain-all` that lets conversations go by and by; absent: each leaves at its next turn. */
  schedule: DrainScheduleRecord.optional(),
  /** The operation that it belongs to. */
  operation: z.string().max(64).optional(),
});
export type RegionOrder = z.infer<typeof RegionOrder>;

/**
 * What an order about some traffic does: `deny` it a region, `force` it into one, drain a region for it (new conversations
 * only, or all at their next turn), or let the region have at most a `share` of what is placed anew.
 */
export const OverrideKind = z.enum(["deny", "force", "drain-new", "drain-all", "share"]);
export type OverrideKind = z.infer<typeof OverrideKind>;

/** What a person ordered about some traffic. Globs: `*` matches any run. */
export const Override = z.looseObject({
  id: z.string().min(1).max(64),
  /** An `OverrideKind`, or one that a later version knows: it is kept for that one and passed over here. */
  kind: z.string().min(1).max(32),
  /** 0 to 1, where the kind is `share`. */
  share: z.number().min(0).max(1).optional(),
  region: z.string().min(1).max(128),
  pool: z.string().min(1).max(128),
  model: z.string().min(1).max(256),
  tenant: z.string().min(1).max(128),
  comment: z.string().min(1).max(500),
  actor: z.string().min(1).max(128),
  /** When it was ordered, extended or cancelled last; 0: written by a version that does not say. */
  orderedAtMs: z.int().nonnegative().default(0),
  /** One that was cancelled expired then. */
  expiresAtMs: z.int().positive(),
  /** As a region order's. */
  schedule: DrainScheduleRecord.optional(),
  operation: z.string().max(64).optional(),
});
export type Override = z.infer<typeof Override>;

/** `orders`: every GTM keeps them in memory too, and puts them back when the key is gone. */
export const OrdersRecord = z.looseObject({
  v: z.literal(1),
  rev: z.int().nonnegative(),
  /** Digests of the records that this one came of, oldest first: whoever knows one of them is behind, and not apart. */
  past: z.array(z.string().max(16)).max(64).optional(),
  /** At most one a region. `active`: what was ordered before is taken back. */
  regions: z.array(RegionOrder),
  overrides: z.array(Override),
  /** Drains that go on or went on lately, oldest first. */
  operations: z.array(OperationRecord).max(256).optional(),
});
export type OrdersRecord = z.infer<typeof OrdersRecord>;

/** `refused:{hash}`: the region's gateway said no to this conversation. */
export const RefusedRecord = z.looseObject({ v: z.literal(1), region: RegionId, reason: z.string().max(128) });
export type RefusedRecord = z.infer<typeof RefusedRecord>;

/**
 * `response:{hash}`: where a stored response lies (Responses API, `store`), or a stored conversation. The hash is the identity
 * of its id, so that the store shows none; written by the gateway that saw the reply.
 */
export const ResponseRecord = z.looseObject({
  v: z.literal(1),
  region: RegionId,
  /** Which conversation it is a turn of; null: the gateway did not know. */
  conversation: ConversationId.nullable().default(null),
});
export type ResponseRecord = z.infer<typeof ResponseRecord>;

/** Channel `changed`: a key and its new rev. */
export const ChangedMessage = z.looseObject({ key: z.string().min(1).max(512), rev: z.int().nonnegative() });
export type ChangedMessage = z.infer<typeof ChangedMessage>;
