/** What this instance decided lately, each decision with everything that led to it. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Entry } from "#gtm/steering/ports.ts";
import { DecisionId } from "#shared/ids.ts";
import { isLimited, seesEntry } from "../access.ts";
import type { Actor } from "../auth.ts";
import { conversationNamed } from "../conversation-request.ts";
import { viewer } from "../decision-clock.ts";
import { DecisionSchema } from "../decision-schema.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { permittedPage } from "../permitted-page.ts";
import type { AdminPorts, DecisionFilter, PageQuery } from "../ports.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, described, pageOf, pageQuery } from "../route-parts.ts";

export const filterQuery = z.strictObject({
  pool: z.string().max(63).optional(),
  region: z.string().max(63).optional().openapi({ description: "The region that was chosen" }),
  verdict: z.enum(["pinned", "placed", "migrated", "displaced", "unserved"]).optional(),
  channel: z.enum(["http", "dns", "explain", "simulation"]).optional(),
  conversation: z.string().max(63).optional().openapi({ description: "A label or an id" }),
});

export const filterOf = (ports: AdminPorts, query: z.infer<typeof filterQuery>): DecisionFilter => ({
  pool: query.pool ?? null,
  region: query.region ?? null,
  verdict: query.verdict ?? null,
  channel: query.channel ?? null,
  conversation: query.conversation === undefined ? null : conversationNamed(ports, query.conversation),
});

const params = z.object({
  id: described(DecisionId).openapi({
    param: { name: "id", in: "path" },
    type: "string",
    example: "01K5Z6V2QW8Y3N4M7R9T0A1B2C",
  }),
});

export const decisionRoutes = ({ ports, clock }: Context): Router => {
  const viewOf = viewer(ports.policyAt, clock);
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/decisions",
        tags: ["decisions"],
        summary: "The latest decisions of this instance, newest first",
        security: BEARER,
        request: { query: filterQuery.extend(pageQuery.shape) },
        responses: answers(pageOf(DecisionSchema), "A page of decisions"),
      }),
      async (c) => {
        const { limit, cursor, ...filter } = c.req.valid("query");
        const wanted = filterOf(ports, filter);
        const list = (query: PageQuery) => ports.decisions.list({ ...wanted, ...query });
        const page = await permittedPage(list, { limit, cursor: cursor ?? null }, sightOf(c.get("actor")));
        return c.json({ items: page.items.map(viewOf), next_cursor: page.nextCursor }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/decisions/{id}",
        tags: ["decisions"],
        summary: "One decision: every region's cost or exclusion, why, and what would flip it",
        security: BEARER,
        request: { params },
        responses: answers(DecisionSchema, "The decision"),
      }),
      (c) => c.json(viewOf(decisionNamed(ports, c.req.valid("param").id, c.get("actor"))), 200),
    );
};

/** null: they see every decision. */
export const sightOf = (actor: Actor): ((entry: Entry) => boolean) | null =>
  isLimited(actor) ? (entry) => seesEntry(actor, entry) : null;

/** What somebody may not see is not there for them. */
const decisionNamed = (ports: AdminPorts, id: DecisionId, actor: Actor): Entry => {
  const entry = ports.decisions.get(id);
  if (entry !== null && seesEntry(actor, entry)) return entry;
  throw refuse(
    "not-found",
    `This instance (${ports.instance}) does not remember decision ${id}: another made it, or it is too old.`,
  );
};
