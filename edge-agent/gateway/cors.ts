/** Cross-origin requests from pages: anybody may ask, since nothing here is answered by who the browser is (no cookies of ours). */
import type { IncomingHttpHeaders } from "node:http";

/** A day; browsers take less at will. */
const PREFLIGHT_SECONDS = 86_400;

/** Names and values in turn. `*` also admits `Origin: null`, which a page sends after a redirect to another origin. */
const EXPOSED: readonly string[] = [
  ...["Access-Control-Allow-Origin", "*"],
  ...[
    "Access-Control-Expose-Headers",
    "X-GTM-Region, X-GTM-Replica, X-GTM-Decision, X-GTM-Pin, Retry-After, X-Request-Id",
  ],
  ...["Timing-Allow-Origin", "*"],
];
const NONE: readonly string[] = [];

/** For the answer to a page's request; none where no page asked. */
export const exposedHeaders = (headers: IncomingHttpHeaders): readonly string[] =>
  headers.origin === undefined ? NONE : EXPOSED;

/** What an engine says of itself would stand beside ours, and two of them are none to a browser. */
export const ENGINE_CORS: ReadonlySet<string> = new Set([
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-expose-headers",
  "timing-allow-origin",
]);

/** Fetch §3.2.2. */
export const isPreflight = (method: string | undefined, headers: IncomingHttpHeaders): boolean =>
  method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

export const preflightHeaders = (headers: IncomingHttpHeaders): readonly string[] => {
  const asked = headers["access-control-request-headers"];
  return [
    ...["Access-Control-Allow-Origin", "*"],
    ...["Access-Control-Allow-Methods", String(headers["access-control-request-method"])],
    // Repeated, since `*` does not cover Authorization.
    ...(asked === undefined ? [] : ["Access-Control-Allow-Headers", asked]),
    ...["Access-Control-Max-Age", `${PREFLIGHT_SECONDS}`],
    ...["Vary", "Access-Control-Request-Method, Access-Control-Request-Headers"],
  ];
};
