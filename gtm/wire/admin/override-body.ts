/** What is asked of an override, and what a plan of one says. */
import { z } from "@hono/zod-openapi";
import { PACING, PacedPlan, whyNotPaced } from "./drain-pacing.ts";
import { ORDER_EFFECTS } from "./order-effects.ts";
import { Resolvers } from "./order-plan.ts";
import { Comment, Lasting } from "./order-wish.ts";
import { KINDS, OverrideView } from "./override-view.ts";

const glob = (most: number) => z.string().min(1).max(most).openapi({ description: "A glob: * matches any run" });

const Share = z
  .number({ error: "must be a number from 0 to 1" })
  .min(0, "must be 0 or more")
  .max(1, "must be 1 or less");

/** What is done to a region, and for which traffic; without who says so and for how long. */
const SUBJECT = {
  kind: z.enum(KINDS),
  /** Of what is placed anew, at most so much goes to the region; for the kind `share`, and for no other. */
  share: Share.optional(),
  region: glob(128),
  pool: glob(128).default("*"),
  model: glob(256).default("*"),
  tenant: glob(128).default("*"),
};

const hasShareOfItsKind = ({ kind, share }: { readonly kind: string; readonly share?: number | undefined }): boolean =>
  (kind === "share") === (share !== undefined);
const SHARE_FAULT = {
  path: ["share"],
  message: "a share from 0 to 1 is required where the kind is share, and nowhere else",
};

/** An override that nobody gives: for asking what it would do. */
export const OverrideSubject = z
  .strictObject(SUBJECT)
  .refine(hasShareOfItsKind, SHARE_FAULT)
  .openapi("OverrideSubject");
export type OverrideSubject = z.infer<typeof OverrideSubject>;

export const OverrideBody = z
  .strictObject({
    ...SUBJECT,
    comment: Comment,
    /** How long it stands, such as "2h". Nothing about traffic stands for ever. */
    for: Lasting,
    ...PACING,
  })
  .superRefine((body, context) => {
    const why = whyNotPaced(body, body.kind === "drain-all");
    if (why !== null) context.addIssue({ code: "custom", path: ["over"], message: why });
  })
  .refine(hasShareOfItsKind, SHARE_FAULT)
  .openapi("OverrideWish");
export type OverrideBody = z.infer<typeof OverrideBody>;

export const OverrideChangeBody = z
  .strictObject({
    /** How long it stands from now; absent: as long as it does. */
    for: Lasting.optional(),
    /** Of one of the kind `share`; raising it moves nobody. */
    share: Share.optional(),
    comment: Comment.optional(),
  })
  .refine((body) => body.for !== undefined || body.share !== undefined, {
    path: ["for"],
    message: "say how long it stands from now, or another share",
  })
  .openapi("OverrideChange");

export const OverridePlan = z
  .looseObject({
    /** `give`, `change` or `cancel`. Absent: an earlier version knows plans of those that are given only. */
    deed: z.string().optional(),
    /** As it would stand; of one that is cancelled as it stands. */
    override: OverrideView,
    /** The configured regions that its glob matches. */
    regions: z.array(z.string()),
    ...ORDER_EFFECTS,
    resolvers: Resolvers,
    /** Of a drain by and by; null: each conversation leaves at its next turn, or none leaves. */
    paced: PacedPlan.nullable(),
    /** Send it as plan_id, and the override is refused once the plan no longer holds; for five minutes. */
    planId: z.string(),
  })
  .openapi("OverridePlan");
export type OverridePlan = z.infer<typeof OverridePlan>;
