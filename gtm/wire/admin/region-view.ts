/** One region, as the admin API shows it: what people ordered, what reports say, and what follows. */
import { z } from "@hono/zod-openapi";
import type { Region } from "#gtm/domain/region.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { OrdersRecord, RegionOrder } from "#shared/records.ts";
import { PlacementView, placementView } from "./placement-view.ts";
import { ageText } from "./quantity-text.ts";
import { standingOf } from "./region-standing.ts";

const OrderView = z
  .looseObject({
    admin: z.string(),
    comment: z.string(),
    actor: z.string(),
    orderedAt: z.string(),
    /** null: stands until taken back. */
    expiresAt: z.string().nullable(),
    /** By this GTM's clock, so that the reader's does not matter. */
    expiresInMs: z.number().nullable(),
    /** The operation that a drain is followed by; null: it is none, or an earlier version ordered it. */
    operation: z.string().nullable(),
    /** Of a drain by and by: when all conversations are free to leave; null: each leaves at its next turn. */
    leavesBy: z.string().nullable(),
  })
  .openapi("Order");

export const RegionView = z
  .looseObject({
    id: z.string(),
    admin: z.string(),
    health: z.string(),
    takesNew: z.boolean(),
    keepsHeld: z.boolean(),
    because: z.string(),
    order: OrderView.nullable(),
    /** Frozen while the silence is ours; null: never reported. */
    reportAgeMs: z.number().nullable(),
    isPartial: z.boolean(),
    jurisdiction: z.string().nullable(),
    location: z.looseObject({ latitude: z.number(), longitude: z.number() }).nullable(),
    endpoint: z.looseObject({ url: z.string(), ipv4: z.array(z.string()), ipv6: z.array(z.string()) }),
    gpuMemoryBytes: z.number().nullable(),
    gpuMemoryFreeBytes: z.number().nullable(),
    placements: z.array(PlacementView),
  })
  .openapi("Region");
export type RegionView = z.infer<typeof RegionView>;

/** @param nowMs Unix epoch */
export const regionView = (region: Region, orders: OrdersRecord, policy: Policy, nowMs: number): RegionView => {
  const { url, ipv4, ipv6 } = region.endpoint;
  const order = orderOf(region.id, orders);
  return {
    id: region.id,
    admin: region.admin,
    health: region.health,
    ...standingOf(region, policy),
    ...whileLeaving(region, order, nowMs),
    order: orderView(order, nowMs),
    reportAgeMs: region.reportAgeMs === null ? null : Math.round(region.reportAgeMs),
    isPartial: region.isPartial,
    jurisdiction: region.jurisdiction,
    location: region.location,
    endpoint: { url, ipv4: [...ipv4], ipv6: [...ipv6] },
    gpuMemoryBytes: region.gpuMemoryBytes,
    gpuMemoryFreeBytes: region.gpuMemoryFreeBytes,
    placements: [...region.placements.values()].map((one) => placementView(region.id, region.reportAgeMs, one)),
  };
};

/** What a drain by and by makes of it until all are free to leave. */
const whileLeaving = (
  { admin }: Region,
  order: RegionOrder | null,
  nowMs: number,
): Partial<Pick<RegionView, "keepsHeld" | "because">> => {
  const endsAtMs = order?.schedule?.endsAtMs ?? 0;
  if (admin !== "drain-all" || endsAtMs <= nowMs) return {};
  const because = `Being drained by and by, the cheapest first: all conversations are free to leave in ${ageText(endsAtMs - nowMs)}.`;
  return { keepsHeld: true, because };
};

export const orderOf = (region: string, orders: OrdersRecord): RegionOrder | null =>
  orders.regions.find((one) => one.region === region) ?? null;

const orderView = (order: RegionOrder | null, nowMs: number): z.infer<typeof OrderView> | null =>
  order === null
    ? null
    : {
        admin: order.admin,
        comment: order.comment,
        actor: order.actor,
        orderedAt: new Date(order.orderedAtMs).toISOString(),
        expiresAt: order.expiresAtMs === null ? null : new Date(order.expiresAtMs).toISOString(),
        expiresInMs: order.expiresAtMs === null ? null : Math.max(0, Math.round(order.expiresAtMs - nowMs)),
        operation: order.operation ?? null,
        leavesBy: order.schedule === undefined ? null : new Date(order.schedule.endsAtMs).toISOString(),
      };

/** Version of what people ordered of a region: all of it that anybody can change here (RFC 9110 §8.8.3). */
export const regionEtag = (region: string, orders: OrdersRecord): string => {
  const order = orderOf(region, orders);
  return order === null ? '"active-0"' : `"${order.admin}-${order.orderedAtMs}"`;
};
