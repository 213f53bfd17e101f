/** The audit: who changed what, and who was refused. */
import { createRoute, z } from "@hono/zod-openapi";
import { isLimited } from "../access.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { answers, BEARER, pageOf, pageQuery } from "../route-parts.ts";

export const AuditView = z
  .looseObject({
    id: z.string(),
    at: z.string(),
    /** The GTM that was asked. */
    instance: z.string(),
    actor: z.string(),
    role: z.string(),
    /** Which token it was, as /tokens lists them; null: none, or nobody knows any more. */
    tokenId: z.string().nullable(),
    method: z.string(),
    path: z.string(),
    /** The safety rule that was passed by name; null: none. */
    overrideRule: z.string().nullable(),
    /** What was sent; null: nothing, no JSON, or too long. */
    body: z.unknown().nullable(),
    /** HTTP status of the answer: from 400 on nothing was changed. */
    status: z.int(),
  })
  .openapi("AuditEntry");
export type AuditView = z.infer<typeof AuditView>;

export const auditRoutes = ({ ports }: Context): Router =>
  createRouter().openapi(
    createRoute({
      method: "get",
      path: "/audit",
      tags: ["audit"],
      summary: "Who changed what at any GTM of this store, and who was refused; newest first",
      description:
        "The newest 10 000 are kept. Plans, explanations and reading are not in it. Who is limited to pools or tenants sees their own entries.",
      security: BEARER,
      request: {
        query: pageQuery.extend({
          actor: z.string().min(1).max(128).optional().openapi({ description: "Only theirs" }),
        }),
      },
      responses: answers(pageOf(AuditView), "A page of entries"),
    }),
    async (c) => {
      const { limit, cursor, actor } = c.req.valid("query");
      const own = c.get("actor");
      // What others did may name what they may not see.
      const whose = isLimited(own) ? own.name : (actor ?? null);
      if (actor !== undefined && whose !== actor) return c.json({ items: [], next_cursor: null }, 200);
      const page = await ports.audit.list({ limit, cursor: cursor ?? null, actor: whose });
      const items = page.items.map(
        ({ id, atMs, instance, actor: who, role, tokenId, method, path, overrideRule, body, status }) => ({
          ...{ id, at: new Date(atMs).toISOString(), instance, actor: who, role, tokenId, method, path, overrideRule },
          ...{ body: body ?? null, status },
        }),
      );
      return c.json({ items, next_cursor: page.nextCursor }, 200);
    },
  );
