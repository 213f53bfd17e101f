/** Between Node's requests and what happens to them: what becomes of bugs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "#shared/logger.ts";
import type { Handle } from "./front-door.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { problemReply } from "./reply.ts";

export type AppRules = { readonly log: Logger; readonly metrics: HttpMetrics };

/**
 * Answers are written to Node's own response: an adapter's Request, Response and Headers are a quarter of a bare redirect's
 * processor time.
 */
export const createRequestListener = (
  handle: Handle,
  { log, metrics }: AppRules,
): ((incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>) => {
  const onBug = (error: unknown, outgoing: ServerResponse): void => {
    log.error("http.bug", { stack: (error instanceof Error && error.stack) || String(error) });
    if (outgoing.headersSent) {
      outgoing.destroy();
      return;
    }
    const { status, headers, body } = problemReply("internal-error", "A fault of the front door itself.");
    metrics.answers.inc({ status: `${status}` });
    outgoing.writeHead(status, { ...headers, Connection: "close" });
    outgoing.end(body);
  };

  return async (incoming, outgoing) => {
    try {
      await handle(incoming, outgoing);
    } catch (error) {
      onBug(error, outgoing);
    }
  };
};
