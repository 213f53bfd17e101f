/** Whether a client can bear a redirect: which ones were measured not to follow, by what they call themselves. */
import type { IncomingHttpHeaders } from "node:http";

/**
 * Programs that do not follow a 307 of their own accord, or not that of a POST. Only names that the client's own code sets:
 * whoever says nothing, or something else, is redirected. curl cannot be told from `curl -L`, so both are forwarded to.
 */
const DO_NOT_FOLLOW: readonly RegExp[] = [
  /^curl\//,
  // Bare httpx; the SDKs on top of it follow, and have names of their own.
  /^python-httpx\//,
  // The JDK's HttpClient, whose default is NEVER.
  /^Java-http-client\//,
  // With a static key its SDK sets `redirect: "manual"`.
  /^AzureOpenAI\/JS /,
];
/** Before 4.6 OkHttp follows a 307 of GET and HEAD only. */
const OLD_OKHTTP = /^okhttp\/(?:[0-3]\.|4\.[0-5](?:\.|$))/;
/** urllib.request raises on a 307 of anything else (CPython, HTTPRedirectHandler.redirect_request). */
const URLLIB = /^Python-urllib\//;

export const bearsRedirect = (method: string | undefined, headers: IncomingHttpHeaders): boolean => {
  // Of unknown length, so made while it is sent: what has gone cannot be sent again.
  if (headers["transfer-encoding"] !== undefined) return false;
  const agent = headers["user-agent"];
  if (agent === undefined) return true;
  if (OLD_OKHTTP.test(agent) || URLLIB.test(agent)) return method === "GET" || method === "HEAD";
  return !DO_NOT_FOLLOW.some((name) => name.test(agent));
};
