/** What an order about a region would change, worked out by the code that decides for real, without changing anything. */
import { z } from "@hono/zod-openapi";
import type { DrainSchedule } from "#gtm/domain/drain-schedule.ts";
import type { AdminState } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { RegionId } from "#shared/ids.ts";
import { PacedPlan, pacedDrainOf } from "./drain-pacing.ts";
import { type HomeConversations, homeConversations, type OnUnread, orNobody } from "./home-conversations.ts";
import type { Moment } from "./models-served.ts";
import { type Asked, decideBoth, effectsOf, leavingOf, ORDER_EFFECTS } from "./order-effects.ts";
import type { AdminPorts } from "./ports.ts";
import type { Action } from "./region-action.ts";

export const Resolvers = z.looseObject({
  /** How long resolvers may go on giving the region to clients, in seconds. */
  lingerSeconds: z.number(),
  note: z.string(),
});

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
    resolvers: Resolvers,
    /** Of a drain by and by; null: each conversation leaves at its next turn, or none leaves. */
    paced: PacedPlan.nullable(),
    /** Send it as plan_id, and the order is refused once the plan no longer holds; for five minutes. */
    planId: z.string(),
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
  /** `orderedAtMs` of what stands about the region; 0: nothing does. */
  readonly seenAtMs: number;
  readonly planId: string;
  /** Unix epoch ms: when it would begin. */
  readonly startsAtMs: number;
  readonly actor: string;
  readonly at: Moment;
};

/** A plan, and what an order that carries it out needs beside it. */
export type Planned = {
  readonly plan: OrderPlan;
  readonly schedule: DrainSchedule | null;
  readonly home: HomeConversations;
};

/**
 * @param onUnread where the store does not tell whose home the region is: it goes on as if it were nobody's. null, or where
 * conversations leave by and by: it rejects
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export const planOrder = async (
  ports: AdminPorts,
  order: OrderContext,
  onUnread: OnUnread | null,
): Promise<Planned> => {
  const { region, from, action, at } = order;
  const now = ports.steering.world();
  const worlds = { now, ordered: withAdmin(now, region, action.to) };
  const home = await orNobody(homeConversations(ports, region), action.pacing === null ? onUnread : null);
  const decided = await decideBoth(worlds, home.known, ports, at);
  const paced =
    action.pacing === null
      ? null
      : pacedDrainOf(action.pacing, leavingOf(decided), new Set([region]), {
          ...{ ordered: worlds.ordered, policy: ports.policy, startsAtMs: order.startsAtMs },
        });
  const overMs = paced === null ? null : paced.plan.endsInMs;
  const plan = {
    region,
    from,
    to: action.to,
    changes: from !== action.to || paced !== null,
    expiresAt: order.expiresAtMs === null ? null : new Date(order.expiresAtMs).toISOString(),
    expiresInMs: action.forMs,
    ...effectsOf(ports, worlds, { asked: askedBy(order, now), home, all: home, decided, overMs }, at),
    resolvers: resolversOf(action.to, ports.policy),
    paced: paced?.plan ?? null,
    planId: order.planId,
    etag: order.etag,
  };
  return { plan, schedule: paced?.schedule ?? null, home };
};

const askedBy = ({ region, action, actor, startsAtMs }: OrderContext, world: World): Asked => ({
  target: { regions: [region], pool: "*", model: "*", tenant: "*" },
  ...{ actor, epochMs: startsAtMs, takesNothing: takesNothing(world, region, action.to) },
});

/** Whoever takes out what does not answer, or says nothing, takes nothing away: that is never refused. */
const takesNothing = ({ regions }: World, region: RegionId, to: AdminState): boolean => {
  const found = regions.find(({ id }) => id === region);
  return (
    found !== undefined &&
    (found.health === "unhealthy" || found.health === "silent") &&
    found.admin !== "forced-up" &&
    (to === "down" || to === "drain-all" || to === "drain-new")
  );
};

/** The world as it would be once everybody has heard of the order, and every conversation's turn to leave has come. */
export const withAdmin = (world: World, region: RegionId, admin: AdminState): World => ({
  ...world,
  drains: { ...world.drains, byRegion: new Map([...world.drains.byRegion].filter(([id]) => id !== region)) },
  regions: world.regions.map((one) => (one.id === region ? { ...one, admin } : one)),
});

const LEAVES =
  "Pool names cannot tell old clients from new: all of them get other regions, as resolvers' answers expire.";

export const resolversOf = (to: AdminState, policy: Policy): z.infer<typeof Resolvers> => ({
  lingerSeconds: policy.ttlSteadySeconds,
  note: RESOLVERS[to],
});

const RESOLVERS: Readonly<Record<AdminState, string>> = {
  active: "Resolvers give the region again as their answers expire.",
  "forced-up": "Resolvers give the region again as their answers expire.",
  "drain-new": `${LEAVES} Names of conversations at home here keep pointing here.`,
  "drain-all": `${LEAVES} Names of conversations follow.`,
  down: `${LEAVES} Names of conversations follow.`,
};
