/** Changes or cancels what stands about some traffic: shows the plan and asks, or takes --yes for an answer. */
import type { Command } from "commander";
import { OrderPlan } from "#gtm/wire/admin/order-plan.ts";
import { OverridePlan } from "#gtm/wire/admin/override-body.ts";
import { type Invocation, printOne, understood } from "./api-command.ts";
import type { Call } from "./client.ts";
import { mustAgree, mustBeInteractive, mustPassRules } from "./consent.ts";
import { overrideRuleOption, planIdOption } from "./order-options.ts";
import { overridePlanText, planIdText, planText } from "./plan-text.ts";

export type DoingWishes = {
  readonly overrideRule?: string;
  readonly planId?: string;
  readonly dryRun?: true;
  readonly yes?: true;
};

export const withDoingOptions = (command: Command): Command =>
  command
    .addOption(overrideRuleOption())
    .addOption(planIdOption())
    .option("--dry-run", "print what would change, change nothing")
    .option("--yes", "do not ask");

export type Doing = {
  readonly call: Call;
  /** Reads what stands, for its ETag. */
  readonly path: string;
  /** Such as "cancel 01K…". */
  readonly what: string;
};

/** @returns the answer; null: it was only previewed */
export const doIt = async (
  invocation: Invocation,
  { call, path, what }: Doing,
  { overrideRule, planId, dryRun, yes }: DoingWishes,
): Promise<unknown> => {
  const { client, io } = invocation;
  const query = { ...call.query, override_rule: overrideRule, plan_id: planId };
  if (dryRun !== true && yes === true) return (await client.call({ ...call, query })).body;
  if (dryRun !== true) mustBeInteractive(io, `${what}, or --dry-run to see what it would change`);
  const { etag } = await client.call({ method: "GET", path });
  const { body } = await client.call({ ...call, query: { ...call.query, dry_run: "true", plan_id: planId } });
  const plan = understood(Plan, body);
  const text = textOf(body, io.isColourful && dryRun === true);
  if (dryRun === true) printOne(invocation, body, Plan, () => text + planIdText(plan));
  else io.tell(text);
  mustPassRules(plan, overrideRule, (detail) => `to ${what}: ${detail}`);
  if (dryRun === true) return null;
  await mustAgree(io, `${what}?`);
  const agreed = { ...query, plan_id: planId ?? plan.planId };
  return (await client.call({ ...call, query: agreed, ...(etag === null ? {} : { ifMatch: etag }) })).body;
};

/** What both kinds of plan have. */
const Plan = OverridePlan.pick({ violations: true, planId: true }).loose();

/** Taking back the drain of a region is an order about it. */
const textOf = (body: unknown, isColourful: boolean): string =>
  typeof body === "object" && body !== null && "region" in body
    ? planText(understood(OrderPlan, body), isColourful)
    : overridePlanText(understood(OverridePlan, body), isColourful);
