/** What GTMs keep in the store, beside the agents' reports: each value's schema and format version. */
import { z } from "zod";
import { ModelId, RegionId, ReplicaId } from "./ids.ts";

/** Truncated SHA-256 of an id, 2 octets; `gtm check` refuses collisions among regions and among pools. */
const tag = z.int().min(0).max(0xffff);

/** `conv:{hash}`. Packed: keys of one letter keep an entry under 400 bytes, index included. */
export const ConversationRecord = z.looseObject({
  v: z.literal(1),
  rev: z.int().positive(),
  /** Model. */
  m: ModelId,
  /** Tenant tag. */
  t: tag,
  /** Pool tag. */
  p: tag,
  /** Holdings, newest first: region, replica or null, tokens, Unix seconds. */
  h: z.array(z.tuple([RegionId, ReplicaId.nullable(), z.int().nonnegative(), z.int().nonnegative()])).max(3),
  /** Turns so far. */
  n: z.int().nonnegative(),
  /** Last turn, Unix seconds. */
  l: z.int().nonnegative(),
});
export type ConversationRecord = z.infer<typeof ConversationRecord>;

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
});
export type RegionOrder = z.infer<typeof RegionOrder>;

/** What a person ordered about some traffic: `deny` a region to it, or `force` it into a region. Globs: `*` matches any run. */
export const Override = z.looseObject({
  id: z.string().min(1).max(64),
  kind: z.enum(["deny", "force"]),
  region: z.string().min(1).max(128),
  pool: z.string().min(1).max(128),
  model: z.string().min(1).max(256),
  tenant: z.string().min(1).max(128),
  comment: z.string().min(1).max(500),
  actor: z.string().min(1).max(128),
  expiresAtMs: z.int().positive(),
});
export type Override = z.infer<typeof Override>;

/** `orders`: every GTM keeps them in memory too, and puts them back when the key is gone. */
export const OrdersRecord = z.looseObject({
  v: z.literal(1),
  rev: z.int().nonnegative(),
  regions: z.array(RegionOrder),
  overrides: z.array(Override),
});
export type OrdersRecord = z.infer<typeof OrdersRecord>;

/** `refused:{hash}`: the region's gateway said no to this conversation. */
export const RefusedRecord = z.looseObject({ v: z.literal(1), region: RegionId, reason: z.string().max(128) });
export type RefusedRecord = z.infer<typeof RefusedRecord>;

/** Channel `changed`: a key and its new rev. */
export const ChangedMessage = z.looseObject({ key: z.string().min(1).max(512), rev: z.int().nonnegative() });
export type ChangedMessage = z.infer<typeof ChangedMessage>;
