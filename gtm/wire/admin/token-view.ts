/** One token, as the admin API shows it to admins: whose it is, what it may do, until when, and when it was used; never the token. */
import { z } from "@hono/zod-openapi";
import type { TokenRecord } from "#shared/token-record.ts";
import type { KnownToken } from "./known-token.ts";

const globs = z.array(z.string()).nullable();
const known = z.number().nullable();

export const TokenView = z
  .looseObject({
    id: z.string(),
    /** `api`: made by this API, kept in the store. `file`: a line of admin.auth.tokens_file, which is struck there. */
    source: z.string(),
    name: z.string(),
    role: z.string(),
    /** `active`, `expired` or `revoked`; `unknown-role`: a newer version gave it a role that this one does not know. */
    state: z.string(),
    /** Globs; null: any. */
    regions: globs,
    pools: globs,
    tenants: globs,
    /** Of the role acme: the only names it may have certificates for; null: any. */
    names: globs,
    /** null: of the file, which does not say. */
    comment: z.string().nullable(),
    createdBy: z.string().nullable(),
    /** The id of the token it was made with; null: none, or of the file. */
    createdWith: z.string().nullable(),
    createdAt: z.string().nullable(),
    createdMsAgo: known,
    /** null: it does not end. */
    expiresAt: z.string().nullable(),
    /** By this GTM's clock, so that the reader's does not matter; 0: it is over. */
    expiresInMs: known,
    /** To the minute, at whichever GTM; null: as long as anybody remembers it was not used. */
    lastUsedAt: z.string().nullable(),
    lastUsedMsAgo: known,
    revokedAt: z.string().nullable(),
    revokedBy: z.string().nullable(),
    /** Send it as If-Match, and a change is refused when somebody else was faster. */
    etag: z.string(),
  })
  .openapi("Token");
export type TokenView = z.infer<typeof TokenView>;

type Times = { readonly nowMs: number; readonly lastUsedMs: number | null };

const iso = (epochMs: number | null): string | null => (epochMs === null ? null : new Date(epochMs).toISOString());
const copied = (list: readonly string[] | null): string[] | null => (list === null ? null : [...list]);

const timesOf = (expiresAtMs: number | null, { nowMs, lastUsedMs }: Times) => ({
  expiresAt: iso(expiresAtMs),
  expiresInMs: expiresAtMs === null ? null : Math.max(0, Math.round(expiresAtMs - nowMs)),
  lastUsedAt: iso(lastUsedMs),
  lastUsedMsAgo: lastUsedMs === null ? null : Math.max(0, Math.round(nowMs - lastUsedMs)),
});

const stateOf = (expiresAtMs: number | null, revokedAtMs: number | null, nowMs: number): string => {
  if (revokedAtMs !== null) return "revoked";
  return expiresAtMs !== null && expiresAtMs <= nowMs ? "expired" : "active";
};

export const tokenEtag = ({ id, changedAtMs }: Pick<TokenRecord, "id" | "changedAtMs">): string =>
  `"${id}-${changedAtMs}"`;

/** @param isKnownRole false: this version does not know it */
export const recordView = (token: TokenRecord, times: Times, isKnownRole: boolean): TokenView => ({
  ...{ id: token.id, source: "api", name: token.name, role: token.role },
  state: isKnownRole ? stateOf(token.expiresAtMs, token.revokedAtMs, times.nowMs) : "unknown-role",
  regions: copied(token.regions),
  pools: copied(token.pools),
  tenants: copied(token.tenants),
  names: copied(token.names),
  ...{ comment: token.comment, createdBy: token.createdBy, createdWith: token.createdWith },
  createdAt: iso(token.createdAtMs),
  createdMsAgo: Math.max(0, Math.round(times.nowMs - token.createdAtMs)),
  ...timesOf(token.expiresAtMs, times),
  revokedAt: iso(token.revokedAtMs),
  revokedBy: token.revokedBy,
  etag: tokenEtag(token),
});

export const fileTokenView = ({ id, name, role, names, scope, expiresAtMs }: KnownToken, times: Times): TokenView => ({
  ...{ id, source: "file", name, role, state: stateOf(expiresAtMs, null, times.nowMs) },
  regions: copied(scope.regions),
  pools: copied(scope.pools),
  tenants: copied(scope.tenants),
  names: copied(names),
  ...{ comment: null, createdBy: null, createdWith: null, createdAt: null, createdMsAgo: null },
  ...timesOf(expiresAtMs, times),
  ...{ revokedAt: null, revokedBy: null, etag: `"${id}"` },
});
