/** An order about a region, from the request to the store: checked, previewed, carried out. */
import type { AdminState, Region } from "#gtm/domain/region.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { OrdersRecord } from "#shared/records.ts";
import { type OrderContext, type OrderPlan, planOrder, withAdmin } from "./order-plan.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";
import { type Action, type Verb, whyNot } from "./region-action.ts";
import { orderOf, type RegionView, regionEtag, regionView } from "./region-view.ts";
import { modelChanges, passRules, type Rule, violationsOf } from "./safety-rules.ts";

export type Given = {
  readonly verb: Verb;
  readonly region: Region;
  readonly action: Action;
  readonly actor: string;
  /** What the caller saw last; null: whatever it is. */
  readonly ifMatch: string | null;
  readonly override: Rule | null;
};

type Parts = { readonly ports: AdminPorts; readonly clock: Clock; readonly log: Logger };

/** @throws {ProblemError} 409 where the region's state does not allow it, 412 where it changed */
export const previewOf = (parts: Parts, given: Given): Promise<OrderPlan> =>
  planOrder(parts.ports, orderContext(parts, given));

export type Done = { readonly view: RegionView; readonly etag: string };

/** @throws {ProblemError} as previewOf, and 409 where a safety rule forbids it */
export const carryOut = async (parts: Parts, given: Given): Promise<Done> => {
  const { ports, log } = parts;
  const { region, action, actor } = given;
  const order = orderContext(parts, given);
  checkRules(parts, given, order);
  if (order.from === "active" && action.to === "active")
    return doneWith(region, "active", ports.orders.current(), parts);
  const record = await give(ports, order, given);
  log.info("region.ordered", {
    region: region.id,
    from: order.from,
    to: action.to,
    actor,
    comment: action.comment,
    expiresAtMs: order.expiresAtMs,
  });
  return doneWith(region, action.to, record, parts);
};

const give = (
  ports: AdminPorts,
  { expiresAtMs }: OrderContext,
  { region, action, actor }: Given,
): Promise<OrdersRecord> => {
  if (action.to === "active") return ports.orders.undo(region.id, actor);
  if (action.comment === null) throw new Error(`order ${action.to}: the schema let it pass without a comment`);
  return ports.orders.order({ region: region.id, admin: action.to, comment: action.comment, actor, expiresAtMs });
};

const orderContext = ({ ports, clock }: Parts, { verb, region, action, ifMatch }: Given): OrderContext => {
  const orders = ports.orders.current();
  const from = adminIn(orders, region.id, clock.epochMs());
  const etag = regionEtag(region.id, orders);
  if (ifMatch !== null && ifMatch !== "*" && ifMatch !== etag) {
    throw refuse(
      "precondition-failed",
      `Somebody ordered something else of ${region.id} meanwhile: it is ${from} now.`,
    );
  }
  const why = whyNot(verb, region.id, from);
  if (why !== null) throw refuse("state-conflict", why, { admin: from });
  return {
    region: region.id,
    from,
    action,
    expiresAtMs: action.forMs === null ? null : Math.round(clock.epochMs() + action.forMs),
    etag,
    at: { nowMs: clock.monotonicMs(), id: ports.newDecisionId() },
  };
};

/** What is ordered now; an order that has expired counts no longer, even where nobody has cleared it away yet. */
const adminIn = (orders: OrdersRecord, region: string, nowMs: number): AdminState => {
  const order = orderOf(region, orders);
  return order === null || (order.expiresAtMs !== null && order.expiresAtMs <= nowMs) ? "active" : order.admin;
};

const checkRules = ({ ports, log }: Parts, { region, action, override, actor }: Given, order: OrderContext): void => {
  const now = ports.steering.world();
  const violations = violationsOf(modelChanges(now, withAdmin(now, region.id, action.to), ports, order.at));
  if (passRules(violations, override)) {
    log.warn("region.rule-overridden", { region: region.id, to: action.to, rule: override, actor });
  }
};

/** The world hears of an order a moment later; the answer already shows it. */
const doneWith = (region: Region, admin: AdminState, orders: OrdersRecord, { ports, clock }: Parts): Done => ({
  view: regionView({ ...region, admin }, orders, ports.policy, clock.epochMs()),
  etag: regionEtag(region.id, orders),
});
