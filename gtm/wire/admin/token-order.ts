/** A token from the request to the store: checked against what its giver has, made, changed, revoked. */
import { z } from "@hono/zod-openapi";
import type { TokenRecord } from "#shared/token-record.ts";
import { duration } from "#shared/units.ts";
import { denial } from "./access.ts";
import { mustMay } from "./admission.ts";
import type { Actor } from "./auth.ts";
import type { Context } from "./environment.ts";
import { isAnyState } from "./if-match.ts";
import { Comment } from "./order-wish.ts";
import { refuse } from "./problem.ts";
import { type Scope, ScopeFields, scopeOf, type Wished } from "./scope.ts";
import { createToken, createTokenId, hashOfToken } from "./token.ts";
import { tokenEtag } from "./token-view.ts";
import { ActorName, HostName, limitFaults, Role } from "./tokens-file.ts";

// The pipe is made here because only schemas made after @hono/zod-openapi was loaded can be described.
const Lasting = z
  .string({ error: "must be a duration with its unit, such as 12h or 30d" })
  .pipe(duration)
  .refine((ms) => ms >= 60_000, "must be 1m or more")
  .openapi({ type: "string", example: "30d" });

export const TokenBody = z
  .strictObject({
    /** Whose it is; goes into orders, logs and the audit. */
    name: ActorName,
    role: Role,
    /** Globs: regions that it may order of; pools and tenants that it may see and order about. Absent: as far as its giver. */
    ...ScopeFields,
    names: z.array(HostName).min(1).max(256).optional(),
    comment: Comment,
    /** How long it stands; admin.auth.tokens_for at most. */
    for: Lasting,
  })
  .openapi("TokenWish");
export type TokenBody = z.infer<typeof TokenBody>;

export const TokenChangeBody = z
  .strictObject({ for: Lasting.optional(), comment: Comment.optional() })
  .refine(({ for: forMs, comment }) => forMs !== undefined || comment !== undefined, "says neither for nor comment")
  .openapi("TokenChange");
export type TokenChangeBody = z.infer<typeof TokenChangeBody>;

/** @throws {ProblemError} 400, 403: more than the giver has */
export const tokenOf = (context: Context, body: TokenBody, actor: Actor): { record: TokenRecord; token: string } => {
  const { auth, clock } = context;
  if (!auth.asksForTokens) {
    const detail = "Nobody is asked for a token here: admin.auth.tokens_file (the first admin's) or admin.auth.oidc.";
    throw refuse("state-conflict", detail);
  }
  const [fault] = limitFaults(body);
  if (fault !== undefined) throw malformed(fault.path, fault.message);
  const expiresInMs = lasting(context, body.for);
  const scope = body.role === "acme" ? scopeOf({}) : within(actor.scope, body);
  mustMay(actor, "admin", { kind: "hand-out", scope });
  const token = createToken();
  const nowMs = Math.floor(clock.epochMs());
  const record: TokenRecord = {
    ...{ id: createTokenId(), name: body.name, role: body.role, sha256: hashOfToken(token) },
    names: body.names ?? null,
    regions: copied(scope.regions),
    pools: copied(scope.pools),
    tenants: copied(scope.tenants),
    ...{ comment: body.comment, createdBy: actor.name, createdWith: actor.tokenId },
    ...{ createdAtMs: nowMs, changedAtMs: nowMs, expiresAtMs: nowMs + expiresInMs },
    ...{ revokedAtMs: null, revokedBy: null },
  };
  return { record, token };
};

/** What is not said is as far as the giver's own: never further. */
const within = (own: Scope, { regions, pools, tenants }: TokenBody): Scope =>
  scopeOf({ regions: regions ?? own.regions, pools: pools ?? own.pools, tenants: tenants ?? own.tenants });

const copied = (list: readonly string[] | null): string[] | null => (list === null ? null : [...list]);

const lasting = ({ mostTokenMs }: Context, forMs: number): number => {
  const mostMs = mostTokenMs();
  if (forMs <= mostMs) return forMs;
  throw malformed("for", `must be ${mostMs / 86_400_000}d or less (admin.auth.tokens_for)`);
};

const malformed = (field: string, message: string) =>
  refuse("malformed-request", `body.${field}: ${message}`, { faults: [{ at: `body.${field}`, message }] });

/** @throws {ProblemError} 404: none that they may see, 409: of the file, 412: changed since it was read */
export const storedToken = (
  { ports, auth }: Context,
  id: string,
  actor: Actor,
  ifMatch: string | null,
): TokenRecord => {
  const record = ports.tokens.current().find((one) => one.id === id);
  if (record !== undefined && handsOut(actor, record)) {
    if (isAnyState(ifMatch) || ifMatch === tokenEtag(record)) return record;
    throw refuse("precondition-failed", `Somebody changed the token ${id} meanwhile.`);
  }
  if (auth.fileTokens().some((one) => one.id === id)) {
    throw refuse("state-conflict", `${id} is a line of admin.auth.tokens_file: remove it there, on every GTM.`);
  }
  throw noToken(id);
};

/** What the store is to look for once more: somebody at another GTM may be faster. null: whatever it is. */
export const seenOf = ({ changedAtMs }: TokenRecord, ifMatch: string | null): number | null =>
  isAnyState(ifMatch) ? null : changedAtMs;

/** Of one that the store did not change although it stood here. @throws {ProblemError} 412, 404 */
export const changedOrGone = (context: Context, id: string, actor: Actor, ifMatch: string | null): Error => {
  storedToken(context, id, actor, ifMatch);
  return noToken(id);
};

const noToken = (id: string) => refuse("not-found", `There is no token ${id} that could be changed.`);

/** Whether its powers are within theirs: others they neither see nor take away. */
export const handsOut = (actor: Actor, token: Wished): boolean =>
  denial(actor, "admin", { kind: "hand-out", scope: scopeOf(token) }) === null;

export const changeOf = (context: Context, { for: forMs, comment }: TokenChangeBody): Partial<TokenRecord> => ({
  ...(forMs === undefined ? {} : { expiresAtMs: Math.floor(context.clock.epochMs()) + lasting(context, forMs) }),
  ...(comment === undefined ? {} : { comment }),
});

/** Tokens that were made with it, and those made with them. */
export const madeWith = (id: string, tokens: readonly TokenRecord[]): readonly string[] => {
  const found = new Set([id]);
  // Whoever made a token was made before it.
  for (const one of tokens.toSorted((a, b) => a.createdAtMs - b.createdAtMs)) {
    if (one.createdWith !== null && found.has(one.createdWith)) found.add(one.id);
  }
  found.delete(id);
  return [...found];
};
