/** What a request line and Host name, before anything of the body is read: which of our names, which path. */
import type { IncomingMessage } from "node:http";
import { isUnder, requestTarget } from "#shared/request-target.ts";
import type { Site } from "./hosts.ts";
import type { ProblemCode, Refused } from "./problem.ts";

export type Arrival = {
  readonly kind: "arrived";
  readonly site: Site;
  /** As it was sent, with its port; tickets are bound to it. */
  readonly authority: string;
  /** Without query. */
  readonly path: string;
  /** With our parameters, as it was sent. */
  readonly pathAndQuery: string;
};

/** The `:authority` of HTTP/2, else Host. */
export const authorityOf = (incoming: IncomingMessage): string | undefined =>
  "authority" in incoming && typeof incoming.authority === "string" && incoming.authority !== ""
    ? incoming.authority
    : incoming.headers.host;

export const arrivalOf = (
  incoming: IncomingMessage,
  siteOf: (host: string | null) => Site | null,
  paths: readonly string[],
): Arrival | Refused => {
  const url = incoming.url ?? "";
  const target = requestTarget(url, authorityOf(incoming));
  // Another coding frames the body in a way that nobody here reads: whoever reads it otherwise sees another request (RFC 9112 §6.1).
  const coding = incoming.headers["transfer-encoding"];
  if (coding !== undefined && !/^[ \t]*chunked[ \t]*$/i.test(coding)) {
    return problem("malformed-request", "Of transfer codings only chunked is read here.");
  }
  if (target === null) return problem("malformed-request", "The request line or Host is malformed.");
  const { path, pathAndQuery, host } = target;
  const site = siteOf(host);
  if (site === null) return problem("misdirected", "This gateway does not serve the host that the request names.");
  if (!paths.some((prefix) => isUnder(path, prefix))) {
    return problem("not-a-served-path", "This gateway serves no such path.");
  }
  // RFC 9112 §3.2.2: of an absolute form, Host is ignored.
  const absolute = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  return { kind: "arrived", site, path, pathAndQuery, authority: absolute ?? authorityOf(incoming) ?? "" };
};

const problem = (code: ProblemCode, detail: string): Refused => ({
  kind: "problem",
  problem: { code, detail, shouldRetry: false, retryAfterMs: null },
});
