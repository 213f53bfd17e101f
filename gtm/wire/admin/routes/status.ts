/** Who asks, and how this GTM is: the first things a person on call wants to know. */
import { createRoute, z } from "@hono/zod-openapi";
import { poolsSeen, regionsSeen } from "../access.ts";
import type { Actor } from "../auth.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import type { Health } from "../ports.ts";
import { standingOf } from "../region-standing.ts";
import { answers, BEARER } from "../route-parts.ts";

const globs = z.array(z.string()).nullable();
export const WhoAmI = z
  .looseObject({
    name: z.string(),
    role: z.string(),
    /** `token`, `oidc`, or `loopback`: no tokens are configured. */
    by: z.string(),
    /** Which token it is, as /tokens lists them; null: none. */
    tokenId: z.string().nullable(),
    /** Globs: regions that they may order of; pools and tenants that they may see and order about. null: any. */
    regions: globs,
    pools: globs,
    tenants: globs,
    expiresAt: z.string().nullable(),
    /** By this GTM's clock; null: it does not end. */
    expiresInMs: z.number().nullable(),
  })
  .openapi("WhoAmI");
export type WhoAmI = z.infer<typeof WhoAmI>;
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
    /** What does not work as it should; `ageMs`: for how long. */
    degradations: z
      .array(z.looseObject({ what: z.string(), reason: z.string(), since: z.string(), ageMs: z.number() }))
      .default([]),
    uptimeMs: z.number(),
    isStoreUp: z.boolean(),
    world: z.looseObject({
      version: z.number(),
      ageMs: z.number(),
      areAgesFrozen: z.boolean(),
      /** Of the saved facts that decisions rest on since a start without the store; null: on live ones, or on none. */
      savedAgeMs: z.number().nullable().default(null),
    }),
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

/** As /readyz and the status show it. */
const degradationView = ({ what, reason, sinceMs }: Health["degradations"][number], epochMs: number) => ({
  what,
  reason,
  since: new Date(sinceMs).toISOString(),
  ageMs: Math.max(0, Math.round(epochMs - sinceMs)),
});

export const stateOf = (health: Health): "ready" | "degraded" | "not-ready" => {
  if (!health.isReady) return "not-ready";
  return health.degradedSinceMs === null ? "ready" : "degraded";
};

const copied = (list: readonly string[] | null): string[] | null => (list === null ? null : [...list]);

const whoAmI = ({ name, role, by, tokenId, scope, expiresAtMs }: Actor, nowMs: number): WhoAmI => ({
  ...{ name, role, by, tokenId },
  regions: copied(scope.regions),
  pools: copied(scope.pools),
  tenants: copied(scope.tenants),
  expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
  expiresInMs: expiresAtMs === null ? null : Math.max(0, Math.round(expiresAtMs - nowMs)),
});

const statusOf = ({ ports, clock, startedAtMs }: Context, actor: Actor): Status => {
  const { policy, health, orders } = ports;
  const world = ports.steering.world();
  const now = health();
  const { degradedSinceMs, reasons, degradations, savedWorldAgeMs } = now;
  const record = orders.current();
  const seen = regionsSeen(actor, ports.pools);
  return {
    instance: ports.instance,
    version: ports.version,
    state: stateOf(now),
    degradedSince: degradedSinceMs === null ? null : new Date(degradedSinceMs).toISOString(),
    reasons: [...reasons],
    degradations: degradations.map((one) => degradationView(one, clock.epochMs())),
    uptimeMs: Math.round(clock.monotonicMs() - startedAtMs),
    isStoreUp: world.isStoreUp,
    world: {
      version: world.version,
      ageMs: Math.max(0, Math.round(clock.monotonicMs() - world.takenAtMs)),
      areAgesFrozen: world.areAgesFrozen,
      savedAgeMs: savedWorldAgeMs === null ? null : Math.round(savedWorldAgeMs),
    },
    pools: poolsSeen(actor, ports.pools).map(({ name, models, regions }) => ({
      name,
      models: [...models],
      regions: [...regions],
    })),
    regions: world.regions
      .filter(({ id }) => seen === null || seen.has(id))
      .map((region) => ({
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
      (c) => c.json(whoAmI(c.get("actor"), context.clock.epochMs()), 200),
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
      (c) => c.json(statusOf(context, c.get("actor")), 200),
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
