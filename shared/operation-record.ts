/** A drain as something that goes on: where it began, how it goes by and by, how it ended. Kept with the orders. */
import { z } from "zod";

/** Read by gtm/domain/drain-schedule.ts, which says what it means. Times are Unix epoch ms. */
export const DrainScheduleRecord = z.looseObject({
  startsAtMs: z.int().positive(),
  endsAtMs: z.int().positive(),
  steps: z.array(z.tuple([z.number().nonnegative(), z.number().nonnegative()])).max(64),
});
export type DrainScheduleRecord = z.infer<typeof DrainScheduleRecord>;

export const OperationEnd = z.looseObject({
  how: z.enum(["verified-empty", "cancelled", "expired", "superseded"]),
  atMs: z.int().positive(),
  /** Whose order ended it; null: nobody's. */
  actor: z.string().max(128).nullable(),
});
export type OperationEnd = z.infer<typeof OperationEnd>;

export const OperationRecord = z.looseObject({
  id: z.string().min(1).max(64),
  mode: z.enum(["drain-new", "drain-all"]),
  /** The override that drains; null: it is an order about one region. */
  override: z.string().max(64).nullable(),
  /** A region's id; of an override globs, as the other three. */
  region: z.string().min(1).max(128),
  pool: z.string().min(1).max(128),
  model: z.string().min(1).max(256),
  tenant: z.string().min(1).max(128),
  comment: z.string().min(1).max(500),
  actor: z.string().min(1).max(128),
  startedAtMs: z.int().positive(),
  /** When every conversation is to be on its way, by what was asked; null: at its next turn, whenever that is. */
  deadlineAtMs: z.int().positive().nullable(),
  /** At home there when it began, as far as was looked at. */
  atStart: z.looseObject({
    conversations: z.int().nonnegative(),
    pinned: z.int().nonnegative(),
    tokens: z.number().nonnegative(),
    /** False: there were more than were looked at. */
    isComplete: z.boolean(),
  }),
  /** null: it goes on, as far as was written down. */
  end: OperationEnd.nullable(),
  /** When it began or ended: each change is later than the one before. */
  changedAtMs: z.int().positive(),
});
export type OperationRecord = z.infer<typeof OperationRecord>;
