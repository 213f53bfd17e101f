/** Who is asking, by bearer token, and whether their role suffices. */
import { timingSafeEqual } from "node:crypto";
import { hashOfToken } from "./token.ts";
import { ROLES, type Role, type TokenEntry } from "./tokens-file.ts";

export type Actor = {
  readonly name: string;
  readonly role: Role;
  /** `loopback`: no tokens are configured, and only this host can connect. */
  readonly by: "token" | "loopback";
};

export type Refusal = "missing" | "malformed" | "unknown";
export type Identified =
  | { readonly kind: "actor"; readonly actor: Actor }
  | { readonly kind: "refused"; readonly why: Refusal };

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +(\S+) *$/i;

/**
 * @param authorization the header's value; undefined: absent
 * @param entries who has a token
 */
export const identify = (authorization: string | undefined, entries: readonly TokenEntry[]): Identified => {
  if (authorization === undefined) return { kind: "refused", why: "missing" };
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) return { kind: "refused", why: "malformed" };
  const hash = Buffer.from(hashOfToken(token), "hex");
  let found: TokenEntry | null = null;
  // Every entry is compared, each in constant time, so that the time taken says nothing about the list.
  for (const entry of entries) {
    if (timingSafeEqual(hash, Buffer.from(entry.sha256, "hex"))) found = entry;
  }
  if (found === null) return { kind: "refused", why: "unknown" };
  return { kind: "actor", actor: { name: found.name, role: found.role, by: "token" } };
};

export const suffices = (actor: Actor, needed: Role): boolean => ROLES.indexOf(actor.role) >= ROLES.indexOf(needed);
