/** What drain, undrain, down and up mean for a region in its present admin state. */
import { z } from "@hono/zod-openapi";
import type { AdminState } from "#gtm/domain/region.ts";
import { PACING, type Pacing, pacingOf, whyNotPaced } from "./drain-pacing.ts";
import { Comment, Lasting } from "./order-wish.ts";

export const DrainBody = z
  .strictObject({
    /** `drain-new`: keeps what it holds, takes nothing new. `drain-all`: everything leaves at its next turn. */
    mode: z.enum(["drain-new", "drain-all"]),
    comment: Comment,
    /** How long the order stands, such as "2h"; absent: until taken back. */
    for: Lasting.optional(),
    ...PACING,
  })
  .superRefine((body, context) => {
    const why = whyNotPaced(body, body.mode === "drain-all");
    if (why !== null) context.addIssue({ code: "custom", path: ["over"], message: why });
  })
  .openapi("Drain");
export const UndrainBody = z.strictObject({ comment: Comment.optional() }).openapi("Undrain");
export const DownBody = z.strictObject({ comment: Comment, for: Lasting.optional() }).openapi("Down");
export const UpBody = z
  .strictObject({
    /** In service although monitoring says otherwise; needs a comment. Absent: takes `down` back. */
    forced: z.boolean().optional(),
    comment: Comment.optional(),
    for: Lasting.optional(),
  })
  .refine((body) => body.forced !== true || body.comment !== undefined, {
    path: ["comment"],
    message: "a comment is required: say why",
  })
  .openapi("Up");

/** What is asked: a new state, or that the one before be taken back. */
export type Action = {
  readonly to: AdminState;
  /** null only where `to` is active, which needs no reason. */
  readonly comment: string | null;
  readonly forMs: number | null;
  /** null: at once; each conversation that leaves does so at its next turn. */
  readonly pacing: Pacing;
};

export const drainAction = (body: z.infer<typeof DrainBody>): Action => ({
  to: body.mode,
  comment: body.comment,
  forMs: body.for ?? null,
  pacing: pacingOf(body),
});
export const downAction = (body: z.infer<typeof DownBody>): Action => ({
  to: "down",
  comment: body.comment,
  forMs: body.for ?? null,
  pacing: null,
});
export const undrainAction = (body: z.infer<typeof UndrainBody>): Action => ({
  to: "active",
  comment: body.comment ?? null,
  forMs: null,
  pacing: null,
});
export const upAction = (body: z.infer<typeof UpBody>): Action =>
  body.forced === true
    ? { to: "forced-up", comment: body.comment ?? null, forMs: body.for ?? null, pacing: null }
    : { to: "active", comment: body.comment ?? null, forMs: null, pacing: null };

export type Verb = "drain" | "undrain" | "down" | "up";

/**
 * Drain is not down: neither takes back the other, and draining what is down would put it in service.
 *
 * @returns the sentence that says why not; null: it may
 */
export const whyNot = (verb: Verb, region: string, admin: AdminState): string | null => {
  if (verb === "drain" && admin === "down")
    return `${region} is down: there is nothing to drain. \`up\` takes that back.`;
  if (verb === "undrain" && (admin === "down" || admin === "forced-up")) {
    return `${region} is ${admin}, not draining; \`up\` takes that back.`;
  }
  if (verb === "up" && (admin === "drain-new" || admin === "drain-all")) {
    return `${region} is draining (${admin}), not down; \`undrain\` takes that back.`;
  }
  return null;
};
