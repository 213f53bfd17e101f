/** Between Node's requests and what happens to them: the adapter, and what becomes of bugs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import type { Logger } from "#shared/logger.ts";
import type { Handle } from "./front-door.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { problemReply, type Reply } from "./reply.ts";

export type AppRules = { readonly log: Logger; readonly metrics: HttpMetrics };

export const createRequestListener = (
  handle: Handle,
  { log, metrics }: AppRules,
): ((incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>) => {
  const closing = (reply: Reply): Response => {
    metrics.answers.inc({ status: `${reply.status}` });
    return new Response(reply.body, { status: reply.status, headers: { ...reply.headers, Connection: "close" } });
  };
  const onBug = (error: unknown): Response => {
    log.error("http.bug", { stack: (error instanceof Error && error.stack) || String(error) });
    return closing(problemReply("internal-error", "A fault of the front door itself."));
  };

  // Without hono's own router: every path goes one way, and it would take a seventh of the time (test/bench/http.bench.ts).
  const answer = (_request: Request, bindings: unknown): Promise<Response> => {
    // Ours is an HTTP/1.1 server: the adapter's other kind of bindings does not occur.
    const { incoming, outgoing } = bindings as HttpBindings;
    return handle(incoming, outgoing);
  };
  const listener = getRequestListener(answer, {
    // Stands in for a Host that HTTP/1.0 may leave out; the request itself is read from Node's own.
    hostname: "host.invalid",
    // Bodies are read to their end here, with other limits than the adapter's.
    autoCleanupIncoming: false,
    errorHandler: (error) =>
      error instanceof RequestError
        ? closing(problemReply("malformed-request", "The request target or the Host header is malformed."))
        : onBug(error),
  });
  return listener;
};
