/** Gives an order about a region: shows its plan and asks, or takes --yes for an answer. */
import { OrderPlan } from "#gtm/wire/admin/order-plan.ts";
import { RegionView } from "#gtm/wire/admin/region-view.ts";
import { type Invocation, printOne, understood } from "./api-command.ts";
import { mustAgree, mustBeInteractive, mustPassRules } from "./consent.ts";
import { planIdText, planText } from "./plan-text.ts";
import { untilText } from "./quantity.ts";

export type RegionOrder = {
  readonly verb: "drain" | "undrain" | "down" | "up";
  readonly region: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly overrideRule?: string;
  /** Given only while this plan holds. */
  readonly planId?: string;
};

export type OrderManner = { readonly dryRun?: true; readonly yes?: true };

export type Ordered = {
  /** What a drain is followed by; null: it is none. */
  readonly operation: string | null;
};

/** @returns null: it was only previewed */
export const giveOrder = async (
  invocation: Invocation,
  order: RegionOrder,
  { dryRun, yes }: OrderManner,
): Promise<Ordered | null> => {
  if (dryRun === true) {
    await preview(invocation, order);
    return null;
  }
  const agreed = yes === true ? null : await confirmed(invocation, order);
  const { body } = await invocation.client.call({
    ...callOf(order),
    ...(agreed === null ? {} : { ifMatch: agreed.etag }),
    query: { override_rule: order.overrideRule, plan_id: order.planId ?? agreed?.planId },
  });
  printOne(invocation, body, RegionView, orderedText);
  const back = BACK[order.verb];
  if (back !== null) invocation.io.tell(`\`gtm ${back} ${order.region}\` takes it back.\n`);
  return { operation: understood(RegionView, body).order?.operation ?? null };
};

const BACK = { drain: "undrain", undrain: null, down: "up", up: null } as const;

const preview = async (invocation: Invocation, order: RegionOrder): Promise<void> => {
  const { body, plan } = await planOf(invocation, order);
  printOne(invocation, body, OrderPlan, (one) => planText(one, invocation.io.isColourful) + planIdText(one));
  refuseViolations(plan, order, invocation.format !== "table");
};

/** @returns the plan that was shown, so that nothing else is ordered than what was agreed to */
const confirmed = async (invocation: Invocation, order: RegionOrder): Promise<OrderPlan> => {
  const { io } = invocation;
  mustBeInteractive(io, `${order.verb} ${order.region}, or --dry-run to see what it would change`);
  const { plan } = await planOf(invocation, order);
  io.tell(planText(plan, false));
  refuseViolations(plan, order, false);
  await mustAgree(io, `${order.verb} ${order.region}?`);
  return plan;
};

export const planOf = async (
  { client }: Invocation,
  order: RegionOrder,
): Promise<{ readonly body: unknown; readonly plan: OrderPlan }> => {
  const { body } = await client.call({ ...callOf(order), query: { dry_run: "true", plan_id: order.planId } });
  return { body, plan: understood(OrderPlan, body) };
};

const callOf = ({ verb, region, body }: RegionOrder) =>
  ({ method: "POST", path: `/regions/${encodeURIComponent(region)}/${verb}`, body }) as const;

/** @param isTold whether the rules must be named because the plan was not printed for people */
const refuseViolations = (plan: OrderPlan, { overrideRule, region }: RegionOrder, isTold: boolean): void => {
  mustPassRules(plan, overrideRule, (detail) => `this order about ${region}${isTold ? `: ${detail}` : ""}`);
};

const orderedText = (region: RegionView): string =>
  `${region.id}: ${region.admin}${region.order === null ? "" : untilText(region.order)}. ${region.because}\n`;
