/** Metrics and health on a listener of their own, without powers: /metrics, /livez, /readyz. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { type Address, createListener, textOf } from "./listener.ts";
import type { Health } from "./ports.ts";
import { stateOf } from "./routes/status.ts";

export type MetricsServerOptions = {
  readonly listen: Address;
  readonly metrics: Metrics;
  readonly health: () => Health;
  readonly log: Logger;
};

export type MetricsServer = Part & { readonly address: () => Address };

export const createMetricsServer = (options: MetricsServerOptions): MetricsServer => {
  const { listen, log } = options;
  const listener = createListener({
    name: "metrics",
    listen,
    onRequest: (request, response) => {
      answer(request, response, options).catch((error: unknown) => {
        log.error("metrics.bug", { stack: String(error) });
        send(response, 500, "text/plain; charset=utf-8", "internal error\n");
      });
    },
  });
  return {
    name: "metrics",
    start: async () => {
      await listener.open();
      log.info("metrics.listening", { address: textOf(listener.address()) });
    },
    stop: listener.close,
    address: listener.address,
  };
};

const TEXT = "text/plain; charset=utf-8";

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  options: MetricsServerOptions,
): Promise<void> => {
  // Nothing here reads a body.
  request.resume();
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return send(response, 405, TEXT, "only GET and HEAD\n");
  }
  const { path, parameters } = partsOf(request.url ?? "/");
  switch (path) {
    case "/metrics":
      return send(response, 200, options.metrics.contentType, await options.metrics.text());
    case "/livez":
      return send(response, 200, TEXT, "alive\n");
    case "/readyz":
      return sendReadiness(response, options.health(), parameters.has("verbose"));
    default:
      return send(response, 404, TEXT, "there are /metrics, /livez and /readyz\n");
  }
};

/** Degraded still serves, so it is 200: taking every GTM out because the store is away would make it worse. */
const sendReadiness = (response: ServerResponse, health: Health, isVerbose: boolean): void => {
  const state = stateOf(health);
  const status = health.isReady ? 200 : 503;
  if (!isVerbose) {
    send(response, status, TEXT, `${state}\n`);
    return;
  }
  const { degradedSinceMs, reasons, savedWorldAgeMs } = health;
  const body = {
    state,
    degradedSince: degradedSinceMs === null ? null : new Date(degradedSinceMs).toISOString(),
    reasons,
    degradations: health.degradations.map(({ what, reason, sinceMs }) => ({
      what,
      reason,
      since: new Date(sinceMs).toISOString(),
    })),
    savedWorldAgeMs: savedWorldAgeMs === null ? null : Math.round(savedWorldAgeMs),
  };
  send(response, status, "application/json", `${JSON.stringify(body)}\n`);
};

const send = (response: ServerResponse, status: number, type: string, body: string): void => {
  if (response.headersSent) return;
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(body);
};

/** A request line may hold anything; what is no path of ours is answered like one that is missing. */
const partsOf = (target: string): { path: string; parameters: URLSearchParams } => {
  const [path = "", query = ""] = target.split("?", 2);
  return { path, parameters: new URLSearchParams(query) };
};
