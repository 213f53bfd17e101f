/** What an order about a region would change, worked out by the code that decides for real, without changing anything. */
import { z } from "@hono/zod-openapi";
import type { AdminState } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import { homeConversations } from "./home-conversations.ts";
import type { Moment } from "./models-served.ts";
import { effectsOf, ORDER_EFFECTS } from "./order-effects.ts";
import type { AdminPorts } from "./ports.ts";
import type { Action } from "./region-action.ts";

export const OrderPlan = z
  .looseObject({
    region: z.string(),
    from: z.string(),
    to: z.string(),
    /** Whether the order would change anything at all. */
    changes: z.boolean(),
    /** null: would stand until taken back. */
    expiresAt: z.string().nullable(),
    expiresInMs: z.number().nullable(),
    ...ORDER_EFFECTS,
    resolvers: z.looseObject({
      /** How long resolvers may go on giving the region to clients, in seconds. */
      lingerSeconds: z.number(),
      note: z.string(),
    }),
    /** Send it as If-Match, and the order is refused when somebody else was faster. */
    etag: z.string(),
  })
  .openapi("OrderPlan");
export type OrderPlan = z.infer<typeof OrderPlan>;

export type OrderContext = {
  readonly region: RegionId;
  readonly from: AdminState;
  readonly action: Action;
  readonly expiresAtMs: number | null;
  readonly etag: string;
  readonly at: Moment;
};

/** @throws {OperationalError} GTM_STORE_UNREACHABLE: without the store nobody knows whose home the region is */
export const planOrder = async (ports: AdminPorts, order: OrderContext): Promise<OrderPlan> => {
  const { region, from, action, at } = order;
  const now = ports.steering.world();
  const worlds = { now, ordered: withAdmin(now, region, action.to) };
  return {
    region,
    from,
    to: action.to,
    changes: from !== action.to,
    expiresAt: order.expiresAtMs === null ? null : new Date(order.expiresAtMs).toISOString(),
    expiresInMs: action.forMs,
    ...(await effectsOf(ports, worlds, await homeConversations(ports, region), at)),
    resolvers: { lingerSeconds: ports.policy.ttlSteadySeconds, note: RESOLVERS[action.to] },
    etag: order.etag,
  };
};

/** The world as it would be once everybody has heard of the order. */
export const withAdmin = (world: World, region: RegionId, admin: AdminState): World => ({
  ...world,
  regions: world.regions.map((one) => (one.id === region ? { ...one, admin } : one)),
});

const LEAVES =
  "Pool names cannot tell old clients from new: all of them get other regions, as resolvers' answers expire.";

const RESOLVERS: Readonly<Record<AdminState, string>> = {
  active: "Resolvers give the region again as their answers expire.",
  "forced-up": "Resolvers give the region again as their answers expire.",
  "drain-new": `${LEAVES} Names of conversations at home here keep pointing here.`,
  "drain-all": `${LEAVES} Names of conversations follow.`,
  down: `${LEAVES} Names of conversations follow.`,
};
