/** What people ordered, as one record: placed, taken back, expired, and two records that went apart made one again. */
import { createHash } from "node:crypto";
import type { RegionId } from "#shared/ids.ts";
import type { OrdersRecord, Override, RegionOrder } from "#shared/records.ts";
import { mergedOperations, settledOperations } from "./operations.ts";

export const NO_ORDERS: OrdersRecord = { v: 1, rev: 0, regions: [], overrides: [] };

/**
 * An order that is over, or was taken back, stays in the record for so long: a clock that was set wrong must not lose what
 * stands, and a GTM that was cut off must not bring again what others took back.
 */
const REMEMBERED_MS = 86_400_000;
/** Whoever was away for more changes than this is merged with, as if it had gone apart. */
const MOST_PAST = 64;

/** What holds now: without what has expired or was taken back; the same revision. */
export const standingAt = (orders: OrdersRecord, epochMs: number): OrdersRecord => ({
  ...orders,
  regions: orders.regions.filter(({ admin, expiresAtMs }) => admin !== "active" && !isOver(expiresAtMs, epochMs)),
  overrides: orders.overrides.filter(({ expiresAtMs }) => !isOver(expiresAtMs, epochMs)),
  ...(orders.operations === undefined ? {} : { operations: settledOperations(orders, epochMs) }),
});

/** One order a region: a new one replaces the old, and is the younger one whatever the clocks say. */
export const withOrder = (orders: OrdersRecord, order: RegionOrder): OrdersRecord => {
  const before = orders.regions.find(({ region }) => region === order.region);
  const orderedAtMs = Math.max(order.orderedAtMs, (before?.orderedAtMs ?? 0) + 1);
  const others = orders.regions.filter(({ region }) => region !== order.region);
  return {
    ...withoutOld(orders, order.orderedAtMs),
    rev: orders.rev + 1,
    past: pastOf([orders]),
    regions: [...others.filter(isRecent(order.orderedAtMs)), { ...order, orderedAtMs }].sort(byRegion),
  };
};

/** A new override, or one that stands with another expiry or text: the younger one whatever the clocks say. */
export const withOverride = (orders: OrdersRecord, override: Override): OrdersRecord => {
  const before = orders.overrides.find(({ id }) => id === override.id);
  const orderedAtMs = Math.max(override.orderedAtMs, (before?.orderedAtMs ?? 0) + 1);
  const others = withoutOld(orders, override.orderedAtMs).overrides.filter(({ id }) => id !== override.id);
  return {
    ...orders,
    rev: orders.rev + 1,
    past: pastOf([orders]),
    overrides: [...others, { ...override, orderedAtMs }].sort(byId),
  };
};

/** @returns the same record where nothing stands to be taken back */
export const withoutOrder = (
  orders: OrdersRecord,
  { region, actor, atMs }: { readonly region: RegionId; readonly actor: string; readonly atMs: number },
): OrdersRecord => {
  const isStanding = standingAt(orders, atMs).regions.some((order) => order.region === region);
  if (!isStanding) return orders;
  // Remembered as an order that is over: whoever missed it must not put the old one back.
  return withOrder(orders, {
    ...{ region, admin: "active", comment: "taken back", actor, orderedAtMs: atMs, expiresAtMs: atMs },
  });
};

/** Of each region and of each override the younger order, taken back or not. It does not matter which is which. */
export const merged = (a: OrdersRecord, b: OrdersRecord): OrdersRecord => {
  const regions = new Map<RegionId, RegionOrder>();
  for (const order of [...a.regions, ...b.regions].sort(youngerLast)) regions.set(order.region, order);
  const overrides = new Map([...a.overrides, ...b.overrides].sort(youngerLast).map((one) => [one.id, one]));
  return {
    v: 1,
    rev: Math.max(a.rev, b.rev) + 1,
    past: pastOf([a, b].sort((x, y) => (idOf(x) < idOf(y) ? -1 : 1))),
    regions: [...regions.values()].sort(byRegion),
    overrides: [...overrides.values()].sort(byId),
    ...mergedOperations(a, b),
  };
};

/**
 * What should stand in the store, given what stands there and what we know: the one that came of the other; both together
 * where they went apart, as when a store lost its last writes and somebody ordered before they were put back.
 *
 * @returns `found` itself where it knows of ours
 */
export const reconciled = (known: OrdersRecord, found: OrdersRecord): OrdersRecord => {
  const [mine, theirs] = [idOf(known), idOf(found)];
  if (known.rev === 0 || mine === theirs || (found.past ?? []).includes(mine)) return found;
  return (known.past ?? []).includes(theirs) ? known : merged(known, found);
};

/** What a record says, in a few characters: fields that this version does not know are left out. */
const idOf = ({ regions, overrides }: OrdersRecord): string => {
  const content = [
    regions.map((one) => [one.region, one.admin, one.comment, one.actor, one.orderedAtMs, one.expiresAtMs]),
    overrides.map(({ id, kind, region, pool, model, tenant, comment, actor, orderedAtMs, expiresAtMs }) => [
      ...[id, kind, region, pool, model, tenant, comment, actor],
      ...[orderedAtMs, expiresAtMs],
    ]),
  ];
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 12);
};

/** Of what comes after these. */
const pastOf = (parents: readonly OrdersRecord[]): string[] =>
  [...new Set([...parents.flatMap(({ past }) => past ?? []), ...parents.map(idOf)])].slice(-MOST_PAST);

const isOver = (expiresAtMs: number | null, epochMs: number): boolean => expiresAtMs !== null && expiresAtMs <= epochMs;

const isRecent =
  (epochMs: number) =>
  ({ expiresAtMs }: { readonly expiresAtMs: number | null }): boolean =>
    !isOver(expiresAtMs, epochMs - REMEMBERED_MS);
const withoutOld = (orders: OrdersRecord, epochMs: number): OrdersRecord => ({
  ...orders,
  overrides: orders.overrides.filter(isRecent(epochMs)),
});

const byRegion = (a: RegionOrder, b: RegionOrder): number => (a.region < b.region ? -1 : 1);
const byId = (a: Override, b: Override): number => (a.id < b.id ? -1 : 1);
/** Of two that are equally young the text decides, so that every GTM takes the same. */
const youngerLast = <Order extends RegionOrder | Override>(a: Order, b: Order): number =>
  a.orderedAtMs - b.orderedAtMs || (textOf(a) < textOf(b) ? -1 : 1);
const textOf = (one: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
