/** Whose request it is: what a trusted proxy says, else who holds this credential, else everybody's. */
import type { IncomingHttpHeaders } from "node:http";
import type { Labels } from "#shared/pin-token.ts";
import { headerIn } from "./headers.ts";

const DEFAULT_TENANT = "default";
/** No tenant of a header has this name: it holds no visible character. */
const CREDENTIALS = "\0credential";
const SCHEME = /^(?:bearer|basic)\s+/i;
/** What may be shown to an operator and matched by a glob. */
const SHOWABLE = /^[\x21-\x7e]{1,128}$/;

/** A credential goes through an HMAC at once; it is neither kept nor logged. */
export const tenantOf = (
  headers: IncomingHttpHeaders,
  /** null: not configured, or this request came through no trusted proxy. */
  tenantHeader: string | null,
  labels: Labels,
): string => {
  const named = tenantHeader === null ? null : headerIn(headers, tenantHeader);
  if (named !== null && SHOWABLE.test(named)) return named;
  const credential = headers.authorization?.replace(SCHEME, "") ?? headerIn(headers, "x-api-key");
  if (credential === null || credential === "") return DEFAULT_TENANT;
  return `key-${labels.conversationIdOf(CREDENTIALS, credential)}`;
};
