/** What every order says: why, and for how long. */
import { z } from "@hono/zod-openapi";
import { duration } from "#shared/units.ts";

/** An order that nobody renews within three days is forgotten rather than meant. */
const LONGEST_MS = 72 * 3_600_000;

export const Comment = z
  .string({ error: "a comment is required: say why" })
  .trim()
  .min(1, "a comment is required: say why")
  .max(500);
// The pipe is made here because only schemas made after @hono/zod-openapi was loaded can be described.
export const Lasting = z
  .string({ error: "must be a duration with its unit, such as 30m or 2h" })
  .pipe(duration)
  .refine((ms) => ms >= 1_000 && ms <= LONGEST_MS, "must be from 1s to 72h")
  .openapi({ type: "string", example: "2h" });
