/** Orders that drain: begun together with their operation, taken back through it, read by steering. */
import type { DrainSchedule, Drains } from "#gtm/domain/drain-schedule.ts";
import type { OperationRecord } from "#shared/operation-record.ts";
import type { OrdersRecord, Override, RegionOrder } from "#shared/records.ts";
import { orderCarriedOut, settledOperations, withOperation, withSettled } from "./operations.ts";
import { withOverride, withoutOrder } from "./orders.ts";

/** @param orders with the order in it already; an operation of the region before it ends by that */
export const begun = (orders: OrdersRecord, operation: OperationRecord | null): OrdersRecord =>
  operation === null ? orders : withOperation(orders, operation);

/** A change of orders, and what it ends. @returns `before` itself where nothing changed */
export const settledBy = (after: OrdersRecord, before: OrdersRecord, epochMs: number): OrdersRecord =>
  after === before ? before : withSettled(after, epochMs);

type Cancelling = { readonly actor: string; readonly changedAtMs: number | null; readonly atMs: number };

/** @returns null: it is none that goes on, or not as the caller saw it */
export const withoutOperation = (
  orders: OrdersRecord,
  id: string,
  { actor, changedAtMs, atMs }: Cancelling,
): OrdersRecord | null => {
  const operation = settledOperations(orders, atMs).find((one) => one.id === id);
  if (operation === undefined || operation.end !== null) return null;
  if (changedAtMs !== null && operation.changedAtMs !== changedAtMs) return null;
  const order = orderCarriedOut(orders, operation);
  if (order === null) return null;
  return "kind" in order
    ? withOverride(orders, { ...(order as Override), actor, orderedAtMs: atMs, expiresAtMs: atMs })
    : withoutOrder(orders, { region: (order as RegionOrder).region, actor, atMs });
};

/** @param orders what holds now */
export const drainsOf = ({ regions, overrides }: OrdersRecord): Drains => ({
  byRegion: new Map(regions.flatMap((one) => (one.admin === "drain-all" ? scheduled(one.region, one.schedule) : []))),
  byOverride: new Map(overrides.flatMap((one) => (one.kind === "drain-all" ? scheduled(one.id, one.schedule) : []))),
});

const scheduled = (name: string, schedule: DrainSchedule | undefined): readonly (readonly [string, DrainSchedule])[] =>
  schedule === undefined ? [] : [[name, schedule]];
