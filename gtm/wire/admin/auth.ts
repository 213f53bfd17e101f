/** Who is asking, by bearer token, and whether their role suffices. */
import { timingSafeEqual } from "node:crypto";
import { hashOfToken } from "./token.ts";
import { RANKS, type Role, type TokenEntry } from "./tokens-file.ts";

export type Actor = {
  readonly name: string;
  readonly role: Role;
  /** `loopback`: no tokens are configured, and only this host can connect. */
  readonly by: "token" | "loopback";
  /** The only names whose challenges it may answer; null: any. */
  readonly names: readonly string[] | null;
};

export type Refusal = "missing" | "malformed" | "unknown";
export type Identified =
  | { readonly kind: "actor"; readonly actor: Actor }
  | { readonly kind: "refused"; readonly why: Refusal };

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +(\S+) *$/i;

/** RFC 7617: base64 of the user's name, a colon, and the password. */
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** `bearer`: a token. `any`: also a token as password, with its name as user, as programs send it that know nothing else. */
export type Scheme = "bearer" | "any";

/**
 * @param authorization the header's value; undefined: absent
 * @param entries who has a token
 */
export const identify = (
  authorization: string | undefined,
  entries: readonly TokenEntry[],
  scheme: Scheme = "bearer",
): Identified => {
  if (authorization === undefined) return { kind: "refused", why: "missing" };
  const credentials = credentialsIn(authorization, scheme);
  if (credentials === null) return { kind: "refused", why: "malformed" };
  const { user, token } = credentials;
  const hash = Buffer.from(hashOfToken(token), "hex");
  let found: TokenEntry | null = null;
  // Every entry is compared, each in constant time, so that the time taken says nothing about the list.
  for (const entry of entries) {
    if (timingSafeEqual(hash, Buffer.from(entry.sha256, "hex"))) found = entry;
  }
  if (found === null || (user !== null && user !== found.name)) return { kind: "refused", why: "unknown" };
  return { kind: "actor", actor: { name: found.name, role: found.role, by: "token", names: found.names ?? null } };
};

/** `user` is null where the scheme has none. */
type Credentials = { readonly user: string | null; readonly token: string };

const credentialsIn = (authorization: string, scheme: Scheme): Credentials | null => {
  const token = BEARER.exec(authorization)?.[1];
  if (token !== undefined) return { user: null, token };
  const encoded = scheme === "any" ? BASIC.exec(authorization)?.[1] : undefined;
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { user: text.slice(0, colon), token: text.slice(colon + 1) };
};

/** An admin may do everything; `acme` is no step on the way there. */
export const suffices = ({ role }: Actor, needed: Role): boolean => {
  if (needed === "acme" || role === "acme") return role === "admin" || role === needed;
  return RANKS.indexOf(role) >= RANKS.indexOf(needed);
};
