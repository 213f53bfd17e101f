/** What people ordered, as one record: placed, taken back, expired, and two records that went apart made one again. */
import type { RegionId } from "#shared/ids.ts";
import type { OrdersRecord, RegionOrder } from "#shared/records.ts";

export const NO_ORDERS: OrdersRecord = { v: 1, rev: 0, regions: [], overrides: [] };

/** Without what has expired; the same revision. */
export const standingAt = (orders: OrdersRecord, epochMs: number): OrdersRecord => ({
  ...orders,
  regions: orders.regions.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > epochMs),
  overrides: orders.overrides.filter(({ expiresAtMs }) => expiresAtMs > epochMs),
});

/** One order a region: a new one replaces the old. */
export const withOrder = (orders: OrdersRecord, order: RegionOrder): OrdersRecord => ({
  ...orders,
  rev: orders.rev + 1,
  regions: [...orders.regions.filter(({ region }) => region !== order.region), order].sort(byRegion),
});

export const withoutOrder = (orders: OrdersRecord, region: RegionId): OrdersRecord => ({
  ...orders,
  rev: orders.rev + 1,
  regions: orders.regions.filter((order) => order.region !== region),
});

/** Of each region the younger order; every override of either. What one side took back meanwhile, the other brings again. */
export const merged = (a: OrdersRecord, b: OrdersRecord): OrdersRecord => {
  const regions = new Map<RegionId, RegionOrder>();
  for (const order of [...a.regions, ...b.regions]) {
    const standing = regions.get(order.region);
    if (standing === undefined || order.orderedAtMs > standing.orderedAtMs) regions.set(order.region, order);
  }
  const overrides = new Map([...a.overrides, ...b.overrides].map((override) => [override.id, override]));
  return {
    v: 1,
    rev: Math.max(a.rev, b.rev) + 1,
    regions: [...regions.values()].sort(byRegion),
    overrides: [...overrides.values()].sort((x, y) => (x.id < y.id ? -1 : 1)),
  };
};

const byRegion = (a: RegionOrder, b: RegionOrder): number => (a.region < b.region ? -1 : 1);
