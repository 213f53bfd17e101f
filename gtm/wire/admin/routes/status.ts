/** Who asks, and how this GTM is: the first things a person on call wants to know. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Context, createRouter, type Router } from "../environment.ts";
import type { Health } from "../ports.ts";
import { standingOf } from "../region-standing.ts";
import { answers, BEARER } from "../route-parts.ts";

const WhoAmI = z.looseObject({ name: z.string(), role: z.string(), by: z.string() }).openapi("WhoAmI");
const Version = z.looseObject({ version: z.string(), node: z.string(), api: z.string() }).openapi("Version");
export type Version = z.infer<typeof Version>;
export const Status = z
  .looseObject({
    instance: z.string(),
    version: z.string(),
    /** `ready`, `degraded` or `not-ready`, as /readyz says. */
    state: z.string(),
    degradedSince: z.string().nullable(),
    reasons: z.array(z.string()),
    uptimeMs: z.number(),
    isStoreUp: z.boolean(),
    world: z.looseObject({ version: z.number(), ageMs: z.number(), areAgesFrozen: z.boolean() }),
    pools: z.array(z.looseObject({ name: z.string(), models: z.array(z.string()), regions: z.array(z.string()) })),
    regions: z.array(
      z.looseObject({
        id: z.string(),
        admin: z.string(),
        health: z.string(),
        takesNew: z.boolean(),
        keepsHeld: z.boolean(),
        because: z.string(),
        reportAgeMs: z.number().nullable(),
      }),
    ),
    orders: z.looseObject({ rev: z.number(), regions: z.number(), overrides: z.number() }),
  })
  .openapi("Status");
export type Status = z.infer<typeof Status>;

export const stateOf = (health: Health): "ready" | "degraded" | "not-ready" => {
  if (!health.isReady) return "not-ready";
  return health.degradedSinceMs === null ? "ready" : "degraded";
};

const statusOf = ({ ports, clock, startedAtMs }: Context): Status => {
  const { policy, health, orders } = ports;
  const world = ports.steering.world();
  const { degradedSinceMs, reasons } = health();
  const record = orders.current();
  return {
    instance: ports.instance,
    version: ports.version,
    state: stateOf(health()),
    degradedSince: degradedSinceMs === null ? null : new Date(degradedSinceMs).toISOString(),
    reasons: [...reasons],
    uptimeMs: Math.round(clock.monotonicMs() - startedAtMs),
    isStoreUp: world.isStoreUp,
    world: {
      version: world.version,
      ageMs: Math.max(0, Math.round(clock.monotonicMs() - world.takenAtMs)),
      areAgesFrozen: world.areAgesFrozen,
    },
    pools: ports.pools.map(({ name, models, regions }) => ({ name, models: [...models], regions: [...regions] })),
    regions: world.regions.map((region) => ({
      id: region.id,
      admin: region.admin,
      health: region.health,
      ...standingOf(region, policy),
      reportAgeMs: region.reportAgeMs === null ? null : Math.round(region.reportAgeMs),
    })),
    orders: { rev: record.rev, regions: record.regions.length, overrides: record.overrides.length },
  };
};

export const statusRoutes = (context: Context): Router =>
  createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/whoami",
        tags: ["status"],
        summary: "Who the token belongs to, and the role it gives",
        security: BEARER,
        responses: answers(WhoAmI, "The caller"),
      }),
      (c) => c.json(c.get("actor"), 200),
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/status",
        tags: ["status"],
        summary: "This GTM, its world and its regions in short",
        security: BEARER,
        responses: answers(Status, "The state of this instance"),
      }),
      (c) => c.json(statusOf(context), 200),
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/version",
        tags: ["status"],
        summary: "Versions of the GTM, its runtime and this API",
        security: BEARER,
        responses: answers(Version, "Versions"),
      }),
      (c) => c.json({ version: context.ports.version, node: process.version, api: "v1" }, 200),
    );
