/** Cross-origin requests from pages: anybody may ask, since nothing here is answered by who the browser is (no cookies). */
import type { IncomingHttpHeaders } from "node:http";
import { headerIn } from "./headers.ts";

type Headers = Readonly<Record<string, string>>;

/** A day; browsers take less at will. */
const PREFLIGHT_SECONDS = 86_400;

const EXPOSED: Headers = {
  // `*` also admits `Origin: null`, which pages in sandboxes and redirected requests send.
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "X-GTM-Region, X-GTM-Decision, X-GTM-Verdict, X-GTM-Pin, X-GTM-Pinned-Base-URL, Server-Timing, Retry-After, Location",
  "Timing-Allow-Origin": "*",
};

/** For the answer to a page's request; null: no page asked. */
export const exposedHeaders = (headers: IncomingHttpHeaders): Headers | null =>
  headers.origin === undefined ? null : EXPOSED;

/** Fetch §3.2.2: asked before the request itself, and never redirected. */
export const isPreflight = (method: string | undefined, headers: IncomingHttpHeaders): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

export const preflightHeaders = (headers: IncomingHttpHeaders): Headers => {
  const asked = headerIn(headers, "access-control-request-headers");
  return {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": headerIn(headers, "access-control-request-method") ?? "*",
    // Repeated, since `*` does not cover Authorization.
    ...(asked === null ? {} : { "Access-Control-Allow-Headers": asked }),
    "Access-Control-Max-Age": `${PREFLIGHT_SECONDS}`,
    Vary: "Access-Control-Request-Method, Access-Control-Request-Headers",
  };
};
