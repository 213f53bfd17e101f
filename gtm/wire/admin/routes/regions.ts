/** Regions and what is placed in them, read only. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Region } from "#gtm/domain/region.ts";
import { regionsSeen } from "../access.ts";
import { withCacheTiers } from "../cache-tiers.ts";
import { seesModel } from "../conversation-sight.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { PlacementView, placementsIn } from "../placement-view.ts";
import type { AdminPorts } from "../ports.ts";
import { refuse } from "../problem.ts";
import { RegionView, regionEtag, regionView } from "../region-view.ts";
import { answers, BEARER, pageOf, regionParams } from "../route-parts.ts";

/** @param seen those that whoever asks may see; null: all. @throws {ProblemError} 404 naming the regions there are */
export const regionNamed = (ports: AdminPorts, id: string, seen: ReadonlySet<string> | null = null): Region => {
  const regions = ports.steering.world().regions.filter((one) => seen === null || seen.has(one.id));
  const region = regions.find((one) => one.id === id);
  if (region !== undefined) return region;
  throw refuse("not-found", `There is no region ${id}; there are ${regions.map((one) => one.id).join(", ")}.`);
};

export const regionRoutes = ({ ports, clock }: Context): Router =>
  createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/regions",
        tags: ["regions"],
        summary: "Every region: what was ordered, what reports say, what follows",
        security: BEARER,
        responses: answers(pageOf(RegionView), "All regions, in the order of the configuration"),
      }),
      (c) => {
        const orders = ports.orders.current();
        const nowMs = clock.epochMs();
        const seen = regionsSeen(c.get("actor"), ports.pools);
        const items = ports.steering
          .world()
          .regions.filter(({ id }) => seen === null || seen.has(id))
          .map((region) => regionView(region, orders, ports.policy, nowMs));
        return c.json({ items, next_cursor: null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/regions/{id}",
        tags: ["regions"],
        summary: "One region; its ETag is the version of what was ordered",
        security: BEARER,
        request: { params: regionParams },
        responses: answers(RegionView, "The region"),
      }),
      (c) => {
        const region = regionNamed(ports, c.req.valid("param").id, regionsSeen(c.get("actor"), ports.pools));
        const orders = ports.orders.current();
        c.header("ETag", regionEtag(region.id, orders));
        const view = regionView(region, orders, ports.policy, clock.epochMs());
        return c.json({ ...view, placements: withCacheTiers(view.placements, ports.agents()) }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/placements",
        tags: ["regions"],
        summary: "Models by region: replicas' backlogs, KV use, hit fraction, rates",
        security: BEARER,
        request: {
          query: z.strictObject({ region: z.string().max(63).optional(), model: z.string().max(256).optional() }),
        },
        responses: answers(pageOf(PlacementView), "All placements that match"),
      }),
      (c) => {
        const { region, model } = c.req.valid("query");
        const seen = regionsSeen(c.get("actor"), ports.pools);
        const sees = seesModel(c.get("actor"), ports);
        if (region !== undefined) regionNamed(ports, region, seen);
        const items = placementsIn(ports.steering.world(), region ?? null, modelNamed(ports, model)).filter(
          (one) => sees(one.model) && (seen === null || seen.has(one.region)),
        );
        return c.json({ items: withCacheTiers(items, ports.agents()), next_cursor: null }, 200);
      },
    );

/** An alias stands for its model. */
const modelNamed = ({ models }: AdminPorts, name: string | undefined): string | null => {
  if (name === undefined) return null;
  return models.find((model) => model.aliases.includes(name))?.id ?? name;
};
