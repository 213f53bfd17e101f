/** Who is asking, by the token in the Authorization header. */
import { timingSafeEqual } from "node:crypto";
import type { KnownToken } from "./known-token.ts";
import { ANYTHING, type Scope } from "./scope.ts";
import { hashOfToken } from "./token.ts";
import type { Role } from "./tokens-file.ts";

export type Actor = {
  /** Goes into orders, logs and the audit. */
  readonly name: string;
  readonly role: Role;
  /** `loopback`: no tokens are configured, and only this host can connect. `oidc`: an identity provider's token. */
  readonly by: "token" | "oidc" | "loopback";
  /** Which token it was, never the token itself; null: no token, or one without a name. */
  readonly tokenId: string | null;
  /** The only names whose challenges it may answer; null: any. */
  readonly names: readonly string[] | null;
  readonly scope: Scope;
  /** Unix epoch ms; null: it does not end. */
  readonly expiresAtMs: number | null;
};

export const LOCAL: Actor = {
  ...{ name: "loopback", role: "admin", by: "loopback", tokenId: null, names: null },
  ...{ scope: ANYTHING, expiresAtMs: null },
};

/** Why nobody is let in; the metric's label. */
export type Refusal =
  | "missing"
  | "malformed"
  | "unknown"
  | "expired"
  | "revoked"
  /** Tokens of the store were not read for too long to be believed. */
  | "unchecked"
  /** An identity provider's token: not what its signature or its claims must be; its keys are not at hand. */
  | "oidc-invalid"
  | "oidc-keys";
export type Identified =
  | { readonly kind: "actor"; readonly actor: Actor }
  | { readonly kind: "refused"; readonly why: Refusal; readonly detail: string }
  /** They are who they say, and have no role here. */
  | { readonly kind: "stranger"; readonly detail: string };

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +(\S+) *$/i;

/** RFC 7617: base64 of the user's name, a colon, and the password. */
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** `bearer`: a token. `any`: also a token as password, with its name as user, as programs send it that know nothing else. */
export type Scheme = "bearer" | "any";

/** `user` is null where the scheme has none. */
export type Credentials = { readonly user: string | null; readonly token: string };

/** @param authorization the header's value; undefined: absent */
export const credentialsIn = (
  authorization: string | undefined,
  scheme: Scheme,
): Credentials | Extract<Identified, { kind: "refused" }> => {
  if (authorization === undefined) return refused("missing", "Send a token as `Authorization: Bearer gtm_…`.");
  const token = BEARER.exec(authorization)?.[1];
  if (token !== undefined) return { user: null, token };
  const encoded = scheme === "any" ? BASIC.exec(authorization)?.[1] : undefined;
  const text = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) return refused("malformed", "The Authorization header is not of the form `Bearer TOKEN`.");
  return { user: text.slice(0, colon), token: text.slice(colon + 1) };
};

export const refused = (why: Refusal, detail: string): Extract<Identified, { kind: "refused" }> => ({
  kind: "refused",
  why,
  detail,
});

/** Every one is compared, each in constant time, so that the time taken says nothing about the list. @returns null: none */
export const tokenIn = ({ user, token }: Credentials, tokens: Iterable<KnownToken>): KnownToken | null => {
  const hash = Buffer.from(hashOfToken(token), "hex");
  let found: KnownToken | null = null;
  for (const one of tokens) if (timingSafeEqual(hash, one.hash)) found = one;
  return found === null || (user !== null && user !== found.name) ? null : found;
};

/** @param nowMs Unix epoch */
export const actorOf = (token: KnownToken, nowMs: number): Identified => {
  const { id, name, role, names, scope, expiresAtMs, revokedAtMs } = token;
  if (revokedAtMs !== null) return refused("revoked", `The token ${name} was revoked ${dayOf(revokedAtMs)}.`);
  if (expiresAtMs !== null && expiresAtMs <= nowMs) {
    return refused("expired", `The token ${name} expired ${dayOf(expiresAtMs)}.`);
  }
  return { kind: "actor", actor: { name, role, by: "token", tokenId: id, names, scope, expiresAtMs } };
};

const dayOf = (epochMs: number): string => new Date(epochMs).toISOString().replace("T", " ").slice(0, 16);
