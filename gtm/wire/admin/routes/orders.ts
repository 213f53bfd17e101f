/** Drain, undrain, down, up: the orders a person gives about a region, with their preview and their safety rules. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context as HonoContext } from "hono";
import type { RegionId } from "#shared/ids.ts";
import { type Context, createRouter, type Env, type Router } from "../environment.ts";
import { OrderPlan } from "../order-plan.ts";
import { isDryRun, type OrderQuery, orderQuery } from "../order-query.ts";
import {
  type Action,
  DownBody,
  DrainBody,
  downAction,
  drainAction,
  UndrainBody,
  UpBody,
  undrainAction,
  upAction,
  type Verb,
} from "../region-action.ts";
import { carryOut, type Given, previewOf } from "../region-order.ts";
import { RegionView } from "../region-view.ts";
import { answers, BEARER, jsonBody, regionParams } from "../route-parts.ts";
import { regionNamed } from "./regions.ts";

const route = <Path extends string, Body extends z.ZodType>(path: Path, body: Body, summary: string) =>
  createRoute({
    method: "post",
    path,
    tags: ["orders"],
    summary,
    description:
      "With dry_run=true the answer is the OrderPlan. If-Match with the ETag of the region or of the plan refuses the order when somebody else was faster (412). An order that would leave a model without any region is refused (409) with the rule's name.",
    security: BEARER,
    request: { params: regionParams, query: orderQuery, body: jsonBody(body) },
    responses: answers(z.union([RegionView, OrderPlan]), "The region as ordered, or with dry_run=true the plan"),
  });

type Asked = {
  readonly verb: Verb;
  readonly region: RegionId;
  readonly action: Action;
  readonly query: OrderQuery;
};

export const orderRoutes = (context: Context): Router => {
  const answer = async (c: HonoContext<Env>, { verb, region, action, query: wish }: Asked) => {
    const given: Given = {
      verb,
      region: regionNamed(context.ports, region),
      action,
      actor: c.get("actor").name,
      ifMatch: c.req.header("if-match") ?? null,
      passed: wish.override_rule ?? [],
      planId: wish.plan_id ?? null,
    };
    if (isDryRun(wish)) {
      const plan = await previewOf(context, given);
      c.header("ETag", plan.etag);
      return c.json(plan, 200);
    }
    const { view, etag } = await carryOut(context, given);
    c.header("ETag", etag);
    return c.json(view, 200);
  };
  return createRouter()
    .openapi(route("/regions/{id}/drain", DrainBody, "Take no new conversations, or let all leave"), (c) =>
      answer(c, {
        verb: "drain",
        region: c.req.valid("param").id,
        action: drainAction(c.req.valid("json")),
        query: c.req.valid("query"),
      }),
    )
    .openapi(route("/regions/{id}/undrain", UndrainBody, "Take a drain back"), (c) =>
      answer(c, {
        verb: "undrain",
        region: c.req.valid("param").id,
        action: undrainAction(c.req.valid("json")),
        query: c.req.valid("query"),
      }),
    )
    .openapi(route("/regions/{id}/down", DownBody, "Serve nothing there, whatever monitoring says"), (c) =>
      answer(c, {
        verb: "down",
        region: c.req.valid("param").id,
        action: downAction(c.req.valid("json")),
        query: c.req.valid("query"),
      }),
    )
    .openapi(route("/regions/{id}/up", UpBody, "Take `down` back, or force the region up"), (c) =>
      answer(c, {
        verb: "up",
        region: c.req.valid("param").id,
        action: upAction(c.req.valid("json")),
        query: c.req.valid("query"),
      }),
    );
};
