/** A drain as the admin API shows it: what it was to do, how far it is, when it may be done, how it ended. */
import { z } from "@hono/zod-openapi";
import type { OperationRecord } from "#shared/operation-record.ts";
import type { OrdersRecord } from "#shared/records.ts";
import type { Held } from "./operation-progress.ts";

const Counts = z.looseObject({
  /** At home there, as far as was looked at. */
  conversations: z.int(),
  /** With a turn within the pin's time. */
  pinned: z.int(),
  /** Held by the pinned ones. */
  tokens: z.number(),
  /** False: there are more than were looked at. */
  isComplete: z.boolean(),
});

export const OperationView = z
  .looseObject({
    id: z.string(),
    /** `running`, `verified-empty`, `cancelled`, `expired` (its order), `superseded` (by another order about the region). */
    state: z.string(),
    /** One sentence for people. */
    because: z.string(),
    /** `drain-new`, `drain-all`. */
    mode: z.string(),
    /** The override that drains; null: it is an order about one region. */
    override: z.string().nullable(),
    region: z.string(),
    pool: z.string(),
    model: z.string(),
    tenant: z.string(),
    comment: z.string(),
    actor: z.string(),
    startedAt: z.string(),
    ageMs: z.number(),
    /** By when every conversation is to be on its way, as was asked; null: each at its next turn. */
    deadlineAt: z.string().nullable(),
    deadlineInMs: z.number().nullable(),
    /** Of its order; null: it stands until taken back, or stands no more. */
    expiresAt: z.string().nullable(),
    expiresInMs: z.number().nullable(),
    atStart: Counts,
    /** What is there now; null: it has ended, or the store does not answer. */
    left: Counts.extend({
      /** Requests that engines there run or keep waiting; null: they do not say, or not of this traffic alone. */
      requests: z.int().nullable(),
    }).nullable(),
    /** At home elsewhere by now, or forgotten after an hour without a turn; null: not known. */
    moved: z.int().nullable(),
    /** Until nothing is pinned there any more; null: not known, or it has ended. */
    etaMs: z.number().nullable(),
    /** `pace`: by how fast they left until now. `pins-end`: at the latest, when the pins of those that stay silent are over. */
    etaBy: z.string().nullable(),
    endedAt: z.string().nullable(),
    endedAgeMs: z.number().nullable(),
    /** Who ended it; null: nobody. */
    endedBy: z.string().nullable(),
    /** When it began or ended. */
    changedAt: z.string(),
    changedAgeMs: z.number(),
    /** Send it as If-Match to cancel it as it is here. */
    etag: z.string(),
  })
  .openapi("Operation");
export type OperationView = z.infer<typeof OperationView>;

/** @param held null: it was not looked at @param epochMs Unix epoch */
export const operationView = (
  operation: OperationRecord,
  held: Held | null,
  { regions, overrides }: OrdersRecord,
  epochMs: number,
): OperationView => {
  const { id, mode, override, region, pool, model, tenant, comment, actor, end, atStart } = operation;
  const order =
    override === null ? regions.find((one) => one.operation === id) : overrides.find((one) => one.id === id);
  const expiresAtMs = order?.expiresAtMs ?? null;
  const left = end === null ? held : null;
  return {
    ...{ id, state: end?.how ?? "running", because: becauseOf(operation, left) },
    ...{ mode, override, region, pool, model, tenant, comment, actor },
    startedAt: instantOf(operation.startedAtMs),
    ageMs: since(operation.startedAtMs, epochMs),
    deadlineAt: operation.deadlineAtMs === null ? null : instantOf(operation.deadlineAtMs),
    deadlineInMs: operation.deadlineAtMs === null ? null : until(operation.deadlineAtMs, epochMs),
    expiresAt: expiresAtMs === null ? null : instantOf(expiresAtMs),
    expiresInMs: expiresAtMs === null ? null : until(expiresAtMs, epochMs),
    atStart,
    left: left === null ? null : leftOf(left),
    moved: movedOf(operation, left),
    ...etaOf(operation, left, epochMs),
    endedAt: end === null ? null : instantOf(end.atMs),
    endedAgeMs: end === null ? null : since(end.atMs, epochMs),
    endedBy: end?.actor ?? null,
    changedAt: instantOf(operation.changedAtMs),
    changedAgeMs: since(operation.changedAtMs, epochMs),
    etag: operationEtag(operation),
  };
};

export const operationEtag = ({ id, changedAtMs }: OperationRecord): string => `"${id}-${changedAtMs}"`;

const leftOf = ({ conversations, pinned, tokens, isComplete, requests }: Held): OperationView["left"] => ({
  ...{ conversations, pinned, tokens, isComplete, requests },
});

const movedOf = ({ atStart, end }: OperationRecord, left: Held | null): number | null => {
  if (end?.how === "verified-empty") return atStart.conversations;
  if (left === null || !left.isComplete || !atStart.isComplete) return null;
  return Math.max(0, atStart.conversations - left.conversations);
};

const etaOf = (
  { atStart, startedAtMs }: OperationRecord,
  left: Held | null,
  epochMs: number,
): Pick<OperationView, "etaMs" | "etaBy"> => {
  if (left === null) return { etaMs: null, etaBy: null };
  const gone = atStart.pinned - left.pinned;
  const byPaceMs = gone > 0 ? (left.pinned * Math.max(0, epochMs - startedAtMs)) / gone : null;
  // The dear ones are held back for a while, however fast the cheap ones left.
  const paceMs = byPaceMs === null ? null : Math.max(byPaceMs, left.heldBackMs);
  if (paceMs !== null && (left.mostMs === null || paceMs <= left.mostMs))
    return { etaMs: Math.round(paceMs), etaBy: "pace" };
  return left.mostMs === null ? { etaMs: null, etaBy: null } : { etaMs: Math.round(left.mostMs), etaBy: "pins-end" };
};

const becauseOf = ({ end, region, mode, deadlineAtMs }: OperationRecord, left: Held | null): string => {
  switch (end?.how) {
    case "verified-empty":
      return `Nothing is held in ${region} any more: no conversation is pinned there, and as far as engines say none is served.`;
    case "cancelled":
      return `Taken back${end.actor === null ? "" : ` by ${end.actor}`}.`;
    case "superseded":
      return `Another order about ${region} took its place${end.actor === null ? "" : `, by ${end.actor}`}.`;
    case "expired":
      return "Its order expired before nothing was held there any more.";
    case undefined:
      break;
  }
  if (left === null) return "It goes on; what is left is not known, since the store does not answer.";
  if (left.pinned > 0)
    return mode === "drain-new"
      ? "New conversations go elsewhere; those held there stay until they are silent for the pin's time."
      : `Conversations leave at their next turns${deadlineAtMs === null ? "" : ", the cheapest first and all by the deadline"}.`;
  if ((left.requests ?? 0) > 0) return "No conversation is pinned there any more, but engines still have requests.";
  return "Nothing seems to be held there any more; it is being verified.";
};

const instantOf = (epochMs: number): string => new Date(epochMs).toISOString();
const since = (atMs: number, epochMs: number): number => Math.max(0, Math.round(epochMs - atMs));
const until = (atMs: number, epochMs: number): number => Math.max(0, Math.round(atMs - epochMs));
