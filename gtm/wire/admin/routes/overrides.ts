/** Overrides: what people ordered about some traffic, for a while; listed, given, extended, cancelled. */
import { createRoute, z } from "@hono/zod-openapi";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { Override } from "#shared/records.ts";
import { deedOfOverride, seesOverride } from "../access.ts";
import { mustMay } from "../admission.ts";
import type { Actor } from "../auth.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { isDryRun, ORDER, type OrderQuery, orderQuery } from "../order-query.ts";
import { OverrideBody, OverrideChangeBody, OverridePlan } from "../override-body.ts";
import {
  carryOutDoing,
  changeAsked,
  type Deed,
  type Doing,
  mustBeShare,
  noOverride,
  planDoing,
  standingOverride,
} from "../override-change.ts";
import { overrideOf, placeOverride, planOverride } from "../override-order.ts";
import { KINDS, OverrideView, overrideNamed, overrideView } from "../override-view.ts";
import { answers, BEARER, jsonBody, pageOf } from "../route-parts.ts";

const params = z.object({
  id: z
    .string()
    .min(1)
    .max(64)
    .openapi({ param: { name: "id", in: "path" } }),
});

/** A DELETE has no body in which to say why. */
const cancelQuery = z.strictObject({
  ...ORDER,
  comment: z.string().trim().min(1).max(500).optional().openapi({ description: "Why; kept with it" }),
});

const filter = z.strictObject({
  kind: z.enum(KINDS).optional(),
  region: z.string().min(1).max(128).optional(),
  pool: z.string().min(1).max(128).optional(),
  model: z.string().min(1).max(256).optional(),
  tenant: z.string().min(1).max(128).optional(),
});

const isAbout = (override: Override, { kind, ...names }: z.infer<typeof filter>): boolean =>
  (kind === undefined || override.kind === kind) &&
  (["region", "pool", "model", "tenant"] as const).every((part) => {
    const name = names[part];
    return name === undefined || matchesGlob(override[part], name);
  });

export const Cancelled = z.looseObject({ id: z.string(), cancelled: z.boolean() }).openapi("OverrideCancelled");

export const overrideRoutes = (context: Context): Router => {
  const { ports, clock, recent } = context;
  /** What somebody may not see is not there for them. */
  const seen = (id: string, actor: Actor): Override => {
    const override = overrideNamed(ports.orders.current(), id);
    if (override === null || !seesOverride(actor, override)) throw noOverride(id);
    return override;
  };
  const viewOf = (id: string, actor: Actor): OverrideView =>
    overrideView(seen(id, actor), clock.epochMs(), recent.touchedBy(id));
  const mustMayOrder = (override: Override, actor: Actor): void => mustMay(actor, "operator", deedOfOverride(override));
  /** @returns the plan of a dry run; null: it is done */
  const done = async (
    id: string,
    {
      actor,
      ifMatch = null,
      wish,
    }: { readonly actor: Actor; readonly ifMatch: string | null; readonly wish: OrderQuery },
    asked: Deed,
  ): Promise<OverridePlan | null> => {
    mustMayOrder(seen(id, actor), actor);
    const standing = standingOverride(context, id, ifMatch);
    if (asked.deed === "change") mustBeShare(standing, asked.share);
    const doing: Doing = { ...asked, standing, actor: actor.name, ifMatch, planId: wish.plan_id ?? null };
    if (isDryRun(wish)) return planDoing(context, doing);
    await carryOutDoing(context, doing, wish.override_rule ?? []);
    return null;
  };
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/overrides",
        tags: ["overrides"],
        summary: "What stands about some traffic, until when, and who said so",
        description: "Filters name what an override has to be about: its globs match the name.",
        security: BEARER,
        request: { query: filter },
        responses: answers(pageOf(OverrideView), "All that stand"),
      }),
      (c) => {
        const nowMs = clock.epochMs();
        const wanted = c.req.valid("query");
        const items = ports.orders
          .current()
          .overrides.filter((one) => seesOverride(c.get("actor"), one) && isAbout(one, wanted))
          .map((one) => overrideView(one, nowMs, recent.touchedBy(one.id)));
        return c.json({ items, next_cursor: null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/overrides",
        tags: ["overrides"],
        summary: "Deny a region to some traffic, force it into one, or drain a region for it",
        description:
          "With dry_run=true the answer is the OverridePlan. One that would leave a model without any region is refused (409) with the rule's name.",
        security: BEARER,
        request: { query: orderQuery, body: jsonBody(OverrideBody) },
        responses: answers(z.union([OverrideView, OverridePlan]), "The override, or with dry_run=true the plan"),
      }),
      async (c) => {
        const wish = c.req.valid("query");
        const body = c.req.valid("json");
        const override = overrideOf(context, body, c.get("actor").name);
        mustMayOrder(override, c.get("actor"));
        const given = { override, body, planId: wish.plan_id ?? null };
        if (isDryRun(wish)) return c.json(await planOverride(context, given), 200);
        await placeOverride(context, given, wish.override_rule ?? []);
        const view = viewOf(override.id, c.get("actor"));
        c.header("ETag", view.etag);
        return c.json(view, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/overrides/{id}",
        tags: ["overrides"],
        summary: "One override that stands",
        security: BEARER,
        request: { params },
        responses: answers(OverrideView, "The override"),
      }),
      (c) => {
        const view = viewOf(c.req.valid("param").id, c.get("actor"));
        c.header("ETag", view.etag);
        return c.json(view, 200);
      },
    )
    .openapi(
      createRoute({
        method: "patch",
        path: "/overrides/{id}",
        tags: ["overrides"],
        summary: "Let an override stand so long from now, or change its share",
        security: BEARER,
        description:
          "Counted from now, 72 h at most. With dry_run=true the answer is the OverridePlan. Another share is held to the safety rules (409), a longer stay is not.",
        request: { params, query: orderQuery, body: jsonBody(OverrideChangeBody) },
        responses: answers(
          z.union([OverrideView, OverridePlan]),
          "The override as changed, or with dry_run=true the plan",
        ),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const actor = c.get("actor");
        const by = { actor, ifMatch: c.req.header("if-match") ?? null, wish: c.req.valid("query") };
        const plan = await done(id, by, changeAsked(c.req.valid("json")));
        const view = viewOf(id, actor);
        c.header("ETag", view.etag);
        return c.json(plan ?? view, 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/overrides/{id}",
        tags: ["overrides"],
        summary: "Cancel an override before its end",
        description:
          "Remembered for a day, so that a GTM that was cut off does not bring it again. With dry_run=true the answer is the OverridePlan; what safety rules forbid is refused (409).",
        security: BEARER,
        request: { params, query: cancelQuery },
        responses: answers(z.union([Cancelled, OverridePlan]), "It stands no more, or with dry_run=true the plan"),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const { comment = null, ...wish } = c.req.valid("query");
        const by = { actor: c.get("actor"), ifMatch: c.req.header("if-match") ?? null, wish };
        const plan = await done(id, by, { deed: "cancel", comment });
        return c.json(plan ?? { id, cancelled: true }, 200);
      },
    );
};
