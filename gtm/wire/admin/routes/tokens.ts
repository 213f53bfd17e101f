/** Tokens of this API: who has one, what it may do, and how to give and take them. For admins. */
import { createRoute, z } from "@hono/zod-openapi";
import type { TokenRecord } from "#shared/token-record.ts";
import type { Actor } from "../auth.ts";
import { type Context, createRouter, type Router } from "../environment.ts";
import { DRY_RUN, dryRunQuery, isDryRun } from "../order-query.ts";
import { refuse } from "../problem.ts";
import { answers, BEARER, jsonBody, pageOf, pageQuery } from "../route-parts.ts";
import {
  changedOrGone,
  changeOf,
  handsOut,
  madeWith,
  seenOf,
  storedToken,
  TokenBody,
  TokenChangeBody,
  tokenOf,
} from "../token-order.ts";
import { fileTokenView, recordView, TokenView, tokenEtag } from "../token-view.ts";
import { Role } from "../tokens-file.ts";

export const TokenMade = TokenView.extend({
  /** Shown this once; null: a dry run. */
  token: z.string().nullable(),
}).openapi("TokenMade");
export type TokenMade = z.infer<typeof TokenMade>;
export const TokenRevoked = z
  .looseObject({
    id: z.string(),
    /** False: a dry run. */
    revoked: z.boolean(),
    /** Tokens that it had made, revoked with it; or that would be. */
    alsoRevoked: z.array(z.string()),
  })
  .openapi("TokenRevoked");
export type TokenRevoked = z.infer<typeof TokenRevoked>;

const params = z.object({
  id: z
    .string()
    .min(1)
    .max(64)
    .openapi({ param: { name: "id", in: "path" }, example: "tk-9f86d081884c7d65" }),
});
const revokeQuery = z.strictObject({
  ...DRY_RUN,
  with_made: z
    .enum(["true", "false"])
    .optional()
    .openapi({ description: "true: revoke the tokens that were made with it, too, and those made with them" }),
});

export const tokenRoutes = (context: Context): Router => {
  const { ports, clock, auth, log } = context;
  const view = (record: TokenRecord, lastUsedMs: number | null = null): TokenView =>
    recordView(record, { nowMs: clock.epochMs(), lastUsedMs }, Role.safeParse(record.role).success);
  /** Newest first, then those of the file; only those within what they have themselves. */
  const listFor = async (actor: Actor): Promise<readonly TokenView[]> => {
    const own = ports.tokens.current().filter((one) => handsOut(actor, one));
    const ofFile = auth.fileTokens().filter(({ scope }) => handsOut(actor, scope));
    const used = await ports.tokens.lastUsed([...own, ...ofFile].map(({ id }) => id));
    const nowMs = clock.epochMs();
    return [
      ...own.toSorted((a, b) => b.createdAtMs - a.createdAtMs).map((one) => view(one, used.get(one.id) ?? null)),
      ...ofFile.map((one) => fileTokenView(one, { nowMs, lastUsedMs: used.get(one.id) ?? null })),
    ];
  };
  const stands = (id: string): boolean =>
    ports.tokens
      .current()
      .some((one) => one.id === id && one.revokedAtMs === null && one.expiresAtMs > clock.epochMs());
  const revoke = async (id: string, actor: Actor, seenAtMs: number | null): Promise<TokenRecord | null> => {
    const revoked = { revokedAtMs: Math.floor(clock.epochMs()), revokedBy: actor.name };
    const record = await ports.tokens.change(id, revoked, seenAtMs);
    if (record !== null) log.info("token.revoked", { id, name: record.name, actor: actor.name });
    return record;
  };
  return createRouter()
    .openapi(
      createRoute({
        method: "get",
        path: "/tokens",
        tags: ["tokens"],
        summary: "Who has a token: made here, newest first, then those of the tokens file",
        description:
          "Tokens themselves are nowhere: only their hashes are kept. An admin sees those within their own scope.",
        security: BEARER,
        request: { query: pageQuery },
        responses: answers(pageOf(TokenView), "A page of tokens"),
      }),
      async (c) => {
        const { limit, cursor } = c.req.valid("query");
        const all = await listFor(c.get("actor"));
        const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
        const items = all.slice(from, from + limit);
        return c.json({ items, next_cursor: from + limit < all.length ? (items.at(-1)?.id ?? null) : null }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "get",
        path: "/tokens/{id}",
        tags: ["tokens"],
        summary: "One token, without its secret",
        security: BEARER,
        request: { params },
        responses: answers(TokenView, "The token"),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const found = (await listFor(c.get("actor"))).find((one) => one.id === id);
        if (found === undefined) throw refuse("not-found", `There is no token ${id}.`);
        c.header("ETag", found.etag);
        return c.json(found, 200);
      },
    )
    .openapi(
      createRoute({
        method: "post",
        path: "/tokens",
        tags: ["tokens"],
        summary: "Make a token, which is shown this once",
        description:
          "It may do no more than whoever makes it, and ends by itself. Every GTM of the store knows it within a second.",
        security: BEARER,
        request: { query: dryRunQuery, body: jsonBody(TokenBody) },
        responses: answers(TokenMade, "The token, or with dry_run=true what it would be"),
      }),
      async (c) => {
        const actor = c.get("actor");
        const { record, token } = tokenOf(context, c.req.valid("json"), actor);
        if (isDryRun(c.req.valid("query"))) return c.json({ ...view(record), token: null }, 200);
        if (!(await ports.tokens.add(record))) {
          throw refuse(
            "too-many-tokens",
            "Revoking does not make room before they would have ended; ends that are nearer do.",
          );
        }
        const { id, name, role, expiresAtMs } = record;
        log.info("token.created", { id, name, role, actor: actor.name, expiresAtMs });
        c.header("ETag", tokenEtag(record));
        return c.json({ ...view(record), token }, 200);
      },
    )
    .openapi(
      createRoute({
        method: "patch",
        path: "/tokens/{id}",
        tags: ["tokens"],
        summary: "Let a token stand so long from now, or say something else of it",
        description:
          "What it may do stays as it is: for another role or scope make another token. With dry_run=true the answer is the token as it would be.",
        security: BEARER,
        request: { params, query: dryRunQuery, body: jsonBody(TokenChangeBody) },
        responses: answers(TokenView, "The token as changed, or with dry_run=true as it would be"),
      }),
      async (c) => {
        const { id } = c.req.valid("param");
        const ifMatch = c.req.header("if-match") ?? null;
        const standing = storedToken(context, id, c.get("actor"), ifMatch);
        const change = changeOf(context, c.req.valid("json"));
        if (isDryRun(c.req.valid("query"))) {
          c.header("ETag", tokenEtag(standing));
          return c.json({ ...view({ ...standing, ...change }), etag: tokenEtag(standing) }, 200);
        }
        const record = await ports.tokens.change(id, change, seenOf(standing, ifMatch));
        if (record === null) throw changedOrGone(context, id, c.get("actor"), ifMatch);
        c.header("ETag", tokenEtag(record));
        return c.json(view(record), 200);
      },
    )
    .openapi(
      createRoute({
        method: "delete",
        path: "/tokens/{id}",
        tags: ["tokens"],
        summary: "Revoke a token: refused at once here, and within a second at every other GTM",
        description:
          "It stays in the list until it would have ended. With dry_run=true the answer is what would be revoked.",
        security: BEARER,
        request: { params, query: revokeQuery },
        responses: answers(TokenRevoked, "It opens nothing any more"),
      }),
      async (c) => {
        const actor = c.get("actor");
        const { id } = c.req.valid("param");
        const ifMatch = c.req.header("if-match") ?? null;
        const { with_made: withMade, ...wish } = c.req.valid("query");
        const standing = storedToken(context, id, actor, ifMatch);
        const made = withMade === "true" ? madeWith(id, ports.tokens.current()) : [];
        if (isDryRun(wish)) return c.json({ id, revoked: false, alsoRevoked: made.filter(stands) }, 200);
        if ((await revoke(id, actor, seenOf(standing, ifMatch))) === null)
          throw changedOrGone(context, id, actor, ifMatch);
        const alsoRevoked: string[] = [];
        for (const one of made) if ((await revoke(one, actor, null)) !== null) alsoRevoked.push(one);
        return c.json({ id, revoked: true, alsoRevoked }, 200);
      },
    );
};
