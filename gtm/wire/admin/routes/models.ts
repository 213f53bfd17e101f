/** The models: their names, which pools and regions serve them, and what a region would need to. */
import { createRoute, z } from "@hono/zod-openapi";
import { modelsSeen, poolsSeen, regionsSeen } from "../access.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { ModelView, modelViews } from "../model-view.ts";
import { answers, BEARER, pageOf } from "../route-parts.ts";

export const modelRoutes = ({ ports, clock }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/models",
      tags: ["regions"],
      summary:
        "Every model that is configured or reported: pools, regions by state, capacity, speed, and who would serve it",
      security: BEARER,
      request: { query: z.strictObject({ model: z.string().max(256).optional() }) },
      responses: answers(pageOf(ModelView), "All models, configured ones first"),
    }),
    (c) => {
      const { models, policy } = ports;
      const { model } = c.req.valid("query");
      const actor = c.get("actor");
      const world = ports.steering.world();
      const [seenModels, seenRegions] = [modelsSeen(actor, ports.pools), regionsSeen(actor, ports.pools)];
      const items = modelViews({
        ...{ models, policy, agents: ports.agents() },
        world: { ...world, regions: world.regions.filter(({ id: region }) => seenRegions?.has(region) ?? true) },
        pools: poolsSeen(actor, ports.pools),
        at: { nowMs: clock.monotonicMs(), id: ports.newDecisionId() },
      })
        .filter(({ id, aliases }) => model === undefined || id === model || aliases.includes(model))
        .filter(({ id }) => seenModels?.has(id) ?? true);
      return c.json({ items, next_cursor: null }, 200);
    },
  );
