/** Whose request it is: what a trusted proxy says, else who holds this credential, else everybody's. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Labels } from "#shared/pin-token.ts";
import { headerIn } from "./headers.ts";

const DEFAULT_TENANT = "default";
/** No tenant of a header has this name: it holds no visible character. */
const CREDENTIALS = "\0credential";
const SCHEME = /^(?:bearer|basic)\s+/i;
/** What may be shown to an operator and matched by a glob. */
const SHOWABLE = /^[\x21-\x7e]{1,128}$/;
/** About 2 MB. */
const MOST_KNOWN = 10_000;

/** @param tenantHeader null: not configured, or this request came through no trusted proxy */
export type TenantOf = (headers: IncomingHttpHeaders, tenantHeader: string | null) => string;

/** A credential goes through a hash at once; it is neither kept nor logged. */
export const createTenantOf = (labels: Pick<Labels, "conversationIdOf">): TenantOf => {
  /** By the credential's digest: clients send the same one again and again, and a look-up costs a third of an HMAC. */
  const known = new Map<string, string>();

  const holderOf = (credential: string): string => {
    const digest = hash("sha256", credential, "binary");
    const holder = known.get(digest);
    if (holder !== undefined) return holder;
    if (known.size >= MOST_KNOWN) known.clear();
    const found = `key-${labels.conversationIdOf(CREDENTIALS, credential)}`;
    known.set(digest, found);
    return found;
  };

  return (headers, tenantHeader) => {
    const named = tenantHeader === null ? null : headerIn(headers, tenantHeader);
    if (named !== null && SHOWABLE.test(named)) return named;
    const credential = headers.authorization?.replace(SCHEME, "") ?? headerIn(headers, "x-api-key");
    return credential === null || credential === "" ? DEFAULT_TENANT : holderOf(credential);
  };
};
