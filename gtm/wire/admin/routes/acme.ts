/** Challenges of certificate authorities: what is answered now, and to present or clean up by hand. */
import { createRoute, z } from "@hono/zod-openapi";
import {
  ChallengeLasting,
  ChallengeName,
  ChallengeValue,
  DEFAULT_FOR_MS,
  notOurs,
  present,
} from "../challenge-request.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { DRY_RUN, dryRunQuery, isDryRun } from "../order-query.ts";
import { answers, BEARER, jsonBody, pageOf, pageQuery } from "../route-parts.ts";

export const ChallengeView = z
  .looseObject({
    name: z.string(),
    values: z.array(
      z.looseObject({
        value: z.string(),
        /** Who presented it. */
        actor: z.string(),
        expiresInMs: z.number(),
      }),
    ),
  })
  .openapi("AcmeChallenge");
export type ChallengeView = z.infer<typeof ChallengeView>;

const PresentBody = z
  .strictObject({
    name: ChallengeName,
    value: ChallengeValue,
    /** How long it is answered, such as "30m"; absent: ten minutes. At most an hour. */
    for: ChallengeLasting.optional(),
  })
  .openapi("AcmePresent");
export const Presented = z
  .looseObject({ name: z.string(), value: z.string(), expiresInMs: z.number(), isDryRun: z.boolean().optional() })
  .openapi("AcmePresented");
export const CleanedUp = z
  .looseObject({ name: z.string(), values: z.int(), isDryRun: z.boolean().optional() })
  .openapi("AcmeCleanedUp");

const params = z.object({
  name: ChallengeName.openapi({ param: { name: "name", in: "path" }, type: "string" }),
});
/** Strict: a misspelt value must not clean up everything. */
const cleanupQuery = z.strictObject({
  ...DRY_RUN,
  value: ChallengeValue.optional().openapi({ description: "Only this one; absent: all of the name's" }),
});

export const acmeRoutes = ({ ports, log }: Context): Router =>
  createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/acme-challenges",
        tags: ["acme"],
        summary: "Challenges that are answered now, by name",
        security: BEARER,
        request: { query: pageQuery },
        responses: answers(pageOf(ChallengeView), "A page of names with their values"),
      }),
      (c) => {
        const { limit, cursor } = c.req.valid("query");
        // Names come in their order; the cursor is the last one of the page before.
        const rest = ports.acme.list().filter(({ name }) => cursor === undefined || name > cursor);
        const items = rest.slice(0, limit).map(({ name, values }) => ({ name, values: [...values] }));
        return c.json({ items, next_cursor: rest.length > limit ? (items.at(-1)?.name ?? null) : null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/acme-challenges",
        tags: ["acme"],
        summary: "Answer a challenge, for a while",
        security: BEARER,
        request: { query: dryRunQuery, body: jsonBody(PresentBody) },
        responses: answers(Presented, "It is answered here, and within a second by every other GTM"),
      }),
      async (c) => {
        const { name, value, for: forMs = DEFAULT_FOR_MS } = c.req.valid("json");
        const isDry = isDryRun(c.req.valid("query"));
        await present(ports.acme, { name, value, forMs, isDryRun: isDry }, c.get("actor"));
        return c.json({ name, value, expiresInMs: forMs, isDryRun: isDry }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/acme-challenges/{name}",
        tags: ["acme"],
        summary: "No longer answer a challenge, whoever presented it",
        security: BEARER,
        request: { params, query: cleanupQuery },
        responses: answers(CleanedUp, "How many values that were"),
      }),
      async (c) => {
        const { name } = c.req.valid("param");
        const { value = null, ...wish } = c.req.valid("query");
        const isDry = isDryRun(wish);
        const outcome = await ports.acme.cleanup(name, { value, actor: null }, isDry);
        if (outcome.kind === "not-ours") throw notOurs(name);
        const { values } = outcome;
        if (!isDry) log.info("acme.removed", { name, actor: c.get("actor").name, values });
        return c.json({ name, values, isDryRun: isDry }, 200);
      },
    );
