/** An order about a region, from the request to the store: checked, previewed, carried out. */
import type { AdminState, Region } from "#gtm/domain/region.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { OrdersRecord } from "#shared/records.ts";
import { storedSchedule } from "./drain-pacing.ts";
import { regionScope } from "./drain-scope.ts";
import { isAnyState } from "./if-match.ts";
import { operationOf } from "./operation-start.ts";
import { type OrderContext, type OrderPlan, type Planned, planOrder } from "./order-plan.ts";
import { planIdOf, requirePlan } from "./plan-id.ts";
import type { AdminPorts, OrderWish } from "./ports.ts";
import { type ProblemError, refuse } from "./problem.ts";
import { type Action, type Verb, whyNot } from "./region-action.ts";
import { orderOf, type RegionView, regionEtag, regionView } from "./region-view.ts";
import { mustSayWhy, passRules, type Rule } from "./safety-rules.ts";

export type Given = {
  readonly verb: Verb;
  readonly region: Region;
  readonly action: Action;
  readonly actor: string;
  /** What the caller saw last; null: whatever it is. */
  readonly ifMatch: string | null;
  /** Rules that the caller names to do it all the same. */
  readonly passed: readonly Rule[];
  /** The plan that it must still be as; null: as things are. */
  readonly planId: string | null;
};

type Parts = { readonly ports: AdminPorts; readonly clock: Clock; readonly log: Logger };

/** @throws {ProblemError} 409 where the region's state does not allow it, 412 where it changed */
export const previewOf = async (parts: Parts, given: Given): Promise<OrderPlan> =>
  (await planOrder(parts.ports, orderContext(parts, given), null)).plan;

export type Done = { readonly view: RegionView; readonly etag: string };

/** @throws {ProblemError} as previewOf, and 409 where a safety rule forbids it */
export const carryOut = async (parts: Parts, given: Given): Promise<Done> => {
  const { ports, log } = parts;
  const { region, action, actor } = given;
  const order = orderContext(parts, given);
  if (order.from === "active" && action.to === "active")
    return doneWith(region, "active", ports.orders.current(), parts);
  const planned = await allowed(parts, given, order);
  const record = await give(ports, order, { given, planned });
  if (record === null) throw overtaken(region.id, adminIn(ports.orders.current(), region.id, parts.clock.epochMs()));
  log.info("region.ordered", {
    region: region.id,
    from: order.from,
    to: action.to,
    actor,
    comment: action.comment,
    expiresAtMs: order.expiresAtMs,
    overMs: action.pacing?.overMs ?? null,
  });
  return doneWith(region, action.to, record, parts);
};

/** What taking a drain back by its operation has to pass as well. @throws {ProblemError} as carryOut */
export const mustBeAllowed = async (parts: Parts, given: Given): Promise<void> => {
  await allowed(parts, given, orderContext(parts, given));
};

/** By the plan that a dry run shows. @throws {ProblemError} 409 where a safety rule forbids it */
const allowed = async ({ ports, log }: Parts, given: Given, order: OrderContext): Promise<Planned> => {
  const { region, action, passed, actor } = given;
  mustSayWhy(passed, action.comment);
  const planned = await planOrder(ports, order, (why) => {
    ports.safety.unweighed();
    log.warn("order.unweighed", { region: region.id, to: action.to, why });
  });
  for (const rule of passRules(planned.plan.violations, passed, ports.safety)) {
    log.warn("region.rule-overridden", { region: region.id, to: action.to, rule, actor });
  }
  return planned;
};

type Allowed = { readonly given: Given; readonly planned: Planned };

const give = async (
  ports: AdminPorts,
  order: OrderContext,
  { given: { region, action, actor, ifMatch }, planned }: Allowed,
): Promise<OrdersRecord | null> => {
  const seenAtMs = isAnyState(ifMatch) ? null : order.seenAtMs;
  if (action.to === "active") return ports.orders.undo(region.id, actor, seenAtMs);
  if (action.comment === null) throw new Error(`order ${action.to}: the schema let it pass without a comment`);
  const wish = {
    region: region.id,
    admin: action.to,
    comment: action.comment,
    actor,
    expiresAtMs: order.expiresAtMs,
    ...whatGoesOn(ports, order, planned, { comment: action.comment, actor }),
  };
  return ports.orders.order(wish, seenAtMs);
};

/** A drain goes on after it was ordered: by the plan that the order would be shown with now. */
const whatGoesOn = (
  ports: AdminPorts,
  order: OrderContext,
  { schedule, home }: Planned,
  said: { readonly comment: string; readonly actor: string },
): Pick<OrderWish, "schedule" | "operation"> => {
  const { to, pacing } = order.action;
  if (to !== "drain-new" && to !== "drain-all") return { schedule: null, operation: null };
  const start = {
    ...{ id: order.at.id, mode: to, override: null, scope: regionScope(order.region), ...said },
    ...{ startedAtMs: order.startsAtMs, overMs: pacing?.overMs ?? null },
  };
  const operation = operationOf(start, home, { nowMs: order.at.nowMs, pinMs: ports.policy.pinMs });
  return { schedule: schedule === null ? null : storedSchedule(schedule), operation };
};

const orderContext = ({ ports, clock }: Parts, given: Given): OrderContext => {
  const { verb, region, action, ifMatch } = given;
  const orders = ports.orders.current();
  const from = adminIn(orders, region.id, clock.epochMs());
  const etag = regionEtag(region.id, orders);
  if (!isAnyState(ifMatch) && ifMatch !== etag) throw overtaken(region.id, from);
  const why = whyNot(verb, region.id, from);
  if (why !== null) throw refuse("state-conflict", why, { admin: from });
  // How the region itself is does not matter to where its conversations go.
  const others = ports.steering.world().regions.filter(({ id }) => id !== region.id);
  const basis = { wish: [verb, region.id, action], orders, regions: others };
  requirePlan(given.planId, basis, clock.epochMs());
  return {
    region: region.id,
    from,
    action,
    expiresAtMs: action.forMs === null ? null : Math.round(clock.epochMs() + action.forMs),
    etag,
    seenAtMs: orderOf(region.id, orders)?.orderedAtMs ?? 0,
    planId: planIdOf(basis, clock.epochMs()),
    startsAtMs: Math.floor(clock.epochMs()),
    actor: given.actor,
    at: { nowMs: clock.monotonicMs(), id: ports.newDecisionId() },
  };
};

const overtaken = (region: string, now: AdminState): ProblemError =>
  refuse("precondition-failed", `Somebody ordered something else of ${region} meanwhile: it is ${now} now.`);

/** What is ordered now; an order that has expired counts no longer, even where nobody has cleared it away yet. */
const adminIn = (orders: OrdersRecord, region: string, nowMs: number): AdminState => {
  const order = orderOf(region, orders);
  return order === null || (order.expiresAtMs !== null && order.expiresAtMs <= nowMs) ? "active" : order.admin;
};

/** The world hears of an order a moment later; the answer already shows it. */
const doneWith = (region: Region, admin: AdminState, orders: OrdersRecord, { ports, clock }: Parts): Done => ({
  view: regionView({ ...region, admin }, orders, ports.policy, clock.epochMs()),
  etag: regionEtag(region.id, orders),
});
