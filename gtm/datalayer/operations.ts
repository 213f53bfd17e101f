/** Drains as operations, kept in the record of orders: begun with one, ended by another, by time, or because nothing is left. */
import type { OperationEnd, OperationRecord } from "#shared/operation-record.ts";
import type { OrdersRecord, Override, RegionOrder } from "#shared/records.ts";

/** People look back over a shift; the record is read each second. */
const MOST_KEPT = 32;

/** Begins one: it is the newest. */
export const withOperation = (orders: OrdersRecord, operation: OperationRecord): OrdersRecord => ({
  ...orders,
  operations: [...(orders.operations ?? []).filter(({ id }) => id !== operation.id), operation].slice(-MOST_KEPT),
});

/** As they are at a moment: those whose order no longer stands have ended, also where nobody has written that down. */
export const settledOperations = (orders: OrdersRecord, epochMs: number): OperationRecord[] =>
  (orders.operations ?? []).map((operation) => {
    const end = operation.end ?? endOf(orders, operation, epochMs);
    return end === operation.end ? operation : ended(operation, end);
  });

/** @returns the same record where there is nothing to write down */
export const withSettled = (orders: OrdersRecord, epochMs: number): OrdersRecord =>
  orders.operations === undefined ? orders : { ...orders, operations: settledOperations(orders, epochMs) };

/** That nothing is held there any more. @returns the same record where it had ended before */
export const withVerified = (orders: OrdersRecord, id: string, epochMs: number): OrdersRecord => {
  const running = settledOperations(orders, epochMs).find((one) => one.id === id && one.end === null);
  if (running === undefined) return orders;
  const verified = ended(running, { how: "verified-empty", atMs: Math.floor(epochMs), actor: null });
  return {
    ...orders,
    rev: orders.rev + 1,
    operations: (orders.operations ?? []).map((one) => (one.id === id ? verified : one)),
  };
};

/** Of two records the operations of both; of one that both have, the word said last. */
export const mergedOperations = (a: OrdersRecord, b: OrdersRecord): Pick<OrdersRecord, "operations"> => {
  if (a.operations === undefined && b.operations === undefined) return {};
  const byId = new Map<string, OperationRecord>();
  const inOrder = [...(a.operations ?? []), ...(b.operations ?? [])].sort(
    (x, y) => x.changedAtMs - y.changedAtMs || Number(x.end !== null) - Number(y.end !== null),
  );
  for (const one of inOrder) byId.set(one.id, one);
  const all = [...byId.values()].sort((x, y) => x.startedAtMs - y.startedAtMs || (x.id < y.id ? -1 : 1));
  return { operations: all.slice(-MOST_KEPT) };
};

/** The order that an operation carries out; null: it stands no more. */
export const orderCarriedOut = (
  orders: Pick<OrdersRecord, "regions" | "overrides">,
  { id, override }: OperationRecord,
): RegionOrder | Override | null =>
  (override === null
    ? orders.regions.find((one) => one.operation === id)
    : orders.overrides.find((one) => one.id === override)) ?? null;

const ended = (operation: OperationRecord, end: OperationEnd | null): OperationRecord => ({
  ...operation,
  end,
  changedAtMs: Math.max(operation.changedAtMs + 1, end?.atMs ?? 0),
});

/** null: its order stands. */
const endOf = (orders: OrdersRecord, operation: OperationRecord, epochMs: number): OperationEnd | null => {
  const order = orderCarriedOut(orders, operation);
  if (order !== null) {
    const { expiresAtMs, orderedAtMs, actor } = order;
    if (expiresAtMs === null || expiresAtMs > epochMs) return null;
    // An override that was cancelled expired when it was changed last.
    return orderedAtMs >= expiresAtMs
      ? { how: "cancelled", atMs: orderedAtMs, actor }
      : { how: "expired", atMs: expiresAtMs, actor: null };
  }
  const instead = orders.regions.find(({ region }) => operation.override === null && region === operation.region);
  if (instead === undefined) return { how: "expired", atMs: Math.floor(epochMs), actor: null };
  const { admin, orderedAtMs: atMs, actor } = instead;
  return { how: admin === "active" ? "cancelled" : "superseded", atMs, actor };
};
