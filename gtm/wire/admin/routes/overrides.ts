/** Overrides: what people ordered about some traffic, for a while; listed, given, extended, cancelled. */
import { createRoute, z } from "@hono/zod-openapi";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { Override } from "#shared/records.ts";
import { deedOfOverride, seesOverride } from "../access.ts";
import { mustMay } from "../admission.ts";
import type { Actor } from "../auth.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { OverrideBody, OverrideChangeBody, OverridePlan } from "../override-body.ts";
import {
  mustBeShare,
  noOverride,
  overrideOf,
  placeOverride,
  planOverride,
  standingOverride,
} from "../override-order.ts";
import { KINDS, OverrideView, overrideNamed, overrideView } from "../override-view.ts";
import { PlanId } from "../plan-id.ts";
import type { OverrideChange } from "../ports.ts";
import { answers, BEARER, jsonBody, pageOf } from "../route-parts.ts";
import { RuleNames } from "../safety-rules.ts";

const params = z.object({
  id: z
    .string()
    .min(1)
    .max(64)
    .openapi({ param: { name: "id", in: "path" } }),
});

/** Strict: a misspelt dry_run must not be an order. */
const query = z.strictObject({
  dry_run: z.enum(["true", "false"]).optional().openapi({ description: "true: answer with the plan, change nothing" }),
  plan_id: PlanId.optional().openapi({ description: "Only while this plan, of a dry run, still holds; else 412" }),
  override_rule: RuleNames.optional(),
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
  /** Once more at the store: somebody at another GTM may have been faster. */
  const changed = async (
    { id, orderedAtMs }: Override,
    change: Omit<OverrideChange, "seenAtMs">,
    ifMatch: string | undefined,
  ): Promise<void> => {
    const seenAtMs = ifMatch === undefined || ifMatch === "*" ? null : orderedAtMs;
    if ((await ports.orders.changeOverride(id, { ...change, seenAtMs })) !== null) return;
    standingOverride(context, id, ifMatch ?? null);
    throw noOverride(id);
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
        request: { query, body: jsonBody(OverrideBody) },
        responses: answers(z.union([OverrideView, OverridePlan]), "The override, or with dry_run=true the plan"),
      }),
      async (c) => {
        const { dry_run: dryRun, override_rule: rule, plan_id: planId } = c.req.valid("query");
        const body = c.req.valid("json");
        const override = overrideOf(context, body, c.get("actor").name);
        mustMayOrder(override, c.get("actor"));
        const wanted = { override, body, planId: planId ?? null };
        if (dryRun === "true") return c.json(await planOverride(context, wanted), 200);
        await placeOverride(context, wanted, rule ?? []);
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
        request: { params, body: jsonBody(OverrideChangeBody) },
        responses: answers(OverrideView, "The override as changed"),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const { for: forMs, share = null, comment = null } = c.req.valid("json");
        mustMayOrder(seen(id, c.get("actor")), c.get("actor"));
        const standing = standingOverride(context, id, c.req.header("if-match") ?? null);
        mustBeShare(standing, share);
        const expiresAtMs = forMs === undefined ? standing.expiresAtMs : Math.floor(clock.epochMs()) + forMs;
        await changed(standing, { actor: c.get("actor").name, comment, expiresAtMs, share }, c.req.header("if-match"));
        const view = viewOf(id, c.get("actor"));
        c.header("ETag", view.etag);
        return c.json(view, 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/overrides/{id}",
        tags: ["overrides"],
        summary: "Cancel an override before its end",
        security: BEARER,
        request: { params },
        responses: answers(Cancelled, "It stands no more"),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        mustMayOrder(seen(id, c.get("actor")), c.get("actor"));
        const standing = standingOverride(context, id, c.req.header("if-match") ?? null);
        const expiresAtMs = Math.floor(clock.epochMs());
        const change = { actor: c.get("actor").name, comment: null, expiresAtMs, share: null };
        await changed(standing, change, c.req.header("if-match"));
        return c.json({ id, cancelled: true }, 200);
      },
    );
};
