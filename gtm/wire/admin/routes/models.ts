/** The models: their names, which pools and regions serve them, and what a region would need to. */
import { createRoute, z } from "@hono/zod-openapi";
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
      const { models, pools, policy } = ports;
      const { model } = c.req.valid("query");
      const items = modelViews({
        ...{ world: ports.steering.world(), models, pools, policy, agents: ports.agents() },
        at: { nowMs: clock.monotonicMs(), id: ports.newDecisionId() },
      }).filter(({ id, aliases }) => model === undefined || id === model || aliases.includes(model));
      return c.json({ items: [...items], next_cursor: null }, 200);
    },
  );
