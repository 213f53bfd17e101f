/** What every request that changes something may say beside what it changes: only look, only by this plan, in spite of these rules. */
import { z } from "@hono/zod-openapi";
import { PlanId } from "./plan-id.ts";
import { RuleNames } from "./safety-rules.ts";

export const DRY_RUN = {
  dry_run: z.enum(["true", "false"]).optional().openapi({ description: "true: answer with the plan, change nothing" }),
};

/** Strict: a misspelt dry_run must not be an order. */
export const dryRunQuery = z.strictObject(DRY_RUN);

/** Of orders, which have plans and rules. */
export const ORDER = {
  ...DRY_RUN,
  plan_id: PlanId.optional().openapi({ description: "Only while this plan, of a dry run, still holds; else 412" }),
  override_rule: RuleNames.optional(),
};
export const orderQuery = z.strictObject(ORDER);
export type OrderQuery = z.infer<typeof orderQuery>;

export const isDryRun = ({ dry_run: dryRun }: { readonly dry_run?: "true" | "false" | undefined }): boolean =>
  dryRun === "true";
