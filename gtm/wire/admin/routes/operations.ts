/** Drains as they go on: listed, looked at one by one, taken back. */
import { createRoute, z } from "@hono/zod-openapi";
import { OperationalError } from "#shared/errors.ts";
import type { OperationRecord } from "#shared/operation-record.ts";
import { type Deed, deedOfOverride, seesTraffic } from "../access.ts";
import { mustMay } from "../admission.ts";
import type { Actor } from "../auth.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { isAnyState } from "../if-match.ts";
import { mustBeCancellable, planCancel } from "../operation-cancel.ts";
import { heldBy } from "../operation-progress.ts";
import { OperationView, operationEtag, operationView } from "../operation-view.ts";
import { OrderPlan } from "../order-plan.ts";
import { isDryRun, orderQuery } from "../order-query.ts";
import { OverridePlan } from "../override-body.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, jsonBody, pageOf } from "../route-parts.ts";

const params = z.object({
  id: z
    .string()
    .min(1)
    .max(64)
    .openapi({ param: { name: "id", in: "path" } }),
});

const STATES = ["running", "verified-empty", "cancelled", "expired", "superseded"] as const;

const CancelBody = z.strictObject({ comment: z.string().trim().max(500).optional() }).openapi("OperationCancel");

export const operationRoutes = (context: Context): Router => {
  const { ports, clock } = context;
  /** Newest first. */
  const seenBy = (actor: Actor): readonly OperationRecord[] =>
    (ports.orders.current().operations ?? []).filter((one) => seesTraffic(actor, one)).toReversed();
  /** @throws {ProblemError} 404 */
  const named = (id: string, actor: Actor): OperationRecord => {
    const found = seenBy(actor).find((one) => one.id === id);
    if (found === undefined)
      throw refuse("not-found", `No operation ${id} is known; those of the latest 32 drains are.`);
    return found;
  };
  const viewOf = async (operation: OperationRecord): Promise<OperationView> => {
    const at = { nowMs: clock.monotonicMs(), epochMs: clock.epochMs() };
    const held = operation.end === null ? await heldBy(ports, operation, at).catch(unlessStoreIsAway) : null;
    return operationView(operation, held, ports.orders.current(), clock.epochMs());
  };
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/operations",
        tags: ["operations"],
        summary: "Drains that go on or went on lately, with what is left of each",
        security: BEARER,
        request: {
          query: z.strictObject({ state: z.enum(STATES).optional(), region: z.string().max(128).optional() }),
        },
        responses: answers(pageOf(OperationView), "The newest first, 32 at most"),
      }),
      async (c) => {
        const { state, region } = c.req.valid("query");
        const items: OperationView[] = [];
        for (const one of seenBy(c.get("actor"))) {
          const isAsked = state === undefined || (one.end?.how ?? "running") === state;
          if (isAsked && (region === undefined || one.region === region)) items.push(await viewOf(one));
        }
        return c.json({ items, next_cursor: null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/operations/{id}",
        tags: ["operations"],
        summary: "One drain: what is left, when it may be done, how it ended",
        security: BEARER,
        request: { params },
        responses: answers(OperationView, "The operation"),
      }),
      async (c) => {
        const operation = named(c.req.valid("param").id, c.get("actor"));
        c.header("ETag", operationEtag(operation));
        return c.json(await viewOf(operation), 200);
      },
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/operations/{id}/cancel",
        tags: ["operations"],
        summary: "Take back the order that a drain carries out",
        security: BEARER,
        description:
          "With If-Match only as it was seen (412). One that has ended is 409. It is an undrain, or the cancelling of an override, by another name: with dry_run=true the answer is the plan of that, and the same safety rules hold it.",
        request: { params, query: orderQuery, body: jsonBody(CancelBody) },
        responses: answers(
          z.union([OperationView, OrderPlan, OverridePlan]),
          "The operation as it ended, or with dry_run=true the plan",
        ),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const actor = c.get("actor");
        const operation = named(id, actor);
        mustMay(actor, "operator", deedOf(operation));
        const ifMatch = c.req.header("if-match") ?? null;
        if (operation.end !== null) {
          const detail = `Operation ${id} has ended (${operation.end.how}): there is nothing to cancel.`;
          throw refuse("state-conflict", detail, { state: operation.end.how });
        }
        const wish = c.req.valid("query");
        const changedAtMs = seenOf(operation, ifMatch);
        const by = {
          ...{ actor: actor.name, passed: wish.override_rule ?? [] },
          ...{ comment: c.req.valid("json").comment ?? null, planId: wish.plan_id ?? null },
        };
        if (isDryRun(wish)) {
          c.header("ETag", operationEtag(operation));
          return c.json(await planCancel(context, operation, by), 200);
        }
        await mustBeCancellable(context, operation, by);
        const done = await ports.orders.cancelOperation(id, { actor: actor.name, changedAtMs });
        if (done === null) throw changedMeanwhile(id);
        const cancelled = named(id, actor);
        c.header("ETag", operationEtag(cancelled));
        return c.json(await viewOf(cancelled), 200);
      },
    );
};

const changedMeanwhile = (id: string) => refuse("precondition-failed", `Operation ${id} changed meanwhile.`);

/** What the store is to look for once more; null: whatever it is. @throws {ProblemError} 412 where it changed already */
const seenOf = (operation: OperationRecord, ifMatch: string | null): number | null => {
  if (isAnyState(ifMatch)) return null;
  if (ifMatch !== operationEtag(operation)) throw changedMeanwhile(operation.id);
  return operation.changedAtMs;
};

const deedOf = ({ override, mode, region, pool, tenant }: OperationRecord): Deed =>
  override === null ? { kind: "order-region", region } : deedOfOverride({ kind: mode, region, pool, tenant });

/** What is known of it is shown all the same. */
const unlessStoreIsAway = (cause: unknown): null => {
  if (cause instanceof OperationalError) return null;
  throw cause;
};
