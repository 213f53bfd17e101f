/** The HTTP listener of an agent or a gateway for those who look: metrics, whether it lives, whether it does its work. It has no powers. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { OperationalError } from "#shared/errors.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { http } from "./node-http.ts";

export type ListenerOptions = {
  /** `host:port`, IPv6 in brackets; port 0: any. */
  readonly listen: string;
  readonly metrics: Metrics;
  /** null: it does its work; else what is wrong. */
  readonly whyNotReady: () => string | null;
  /** Further pages, by path. */
  readonly pages: ReadonlyMap<string, () => { readonly contentType: string; readonly body: string }>;
};

export type Listener = Part & { readonly address: () => { readonly address: string; readonly port: number } };

/** The listener, saying where it listens once it does. */
export const toldOf = (listener: Listener, log: Logger): Part => ({
  ...listener,
  start: async () => {
    await listener.start();
    log.info("metrics.listening", listener.address());
  },
});

const CLIENT_DEADLINE_MS = 10_000;

export const createListener = ({ listen, ...sources }: ListenerOptions): Listener => {
  const server = http.createServer((request, response) => {
    answer(request, response, sources).catch(() => response.destroy());
  });
  server.requestTimeout = CLIENT_DEADLINE_MS;
  server.headersTimeout = CLIENT_DEADLINE_MS;
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(listen) ?? [];
  return {
    name: "metrics",
    start: () =>
      new Promise((resolve, reject) => {
        server.once("error", (cause: NodeJS.ErrnoException) => {
          const found = cause.code === "EADDRINUSE" ? "the port is taken" : cause.message;
          reject(new OperationalError("GTM_LISTEN_FAILED", `metrics.listen ${listen}: ${found}`, { cause }));
        });
        server.listen({ host, port: Number(port) }, resolve);
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    address: () => server.address() as AddressInfo,
  };
};

type Sources = Omit<ListenerOptions, "listen">;

const answer = async (request: IncomingMessage, response: ServerResponse, by: Sources): Promise<void> => {
  const path = request.url?.split("?", 1)[0];
  const send = (status: number, contentType: string, body: string): void => {
    response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" });
    response.end(request.method === "HEAD" ? undefined : body);
  };
  const text = "text/plain; charset=utf-8";
  const page = by.pages.get(path ?? "");
  if (request.method !== "GET" && request.method !== "HEAD") send(405, text, "GET only\n");
  else if (path === "/metrics") send(200, by.metrics.contentType, await by.metrics.text());
  else if (path === "/livez") send(200, text, "ok\n");
  else if (path === "/readyz") {
    const why = by.whyNotReady();
    send(why === null ? 200 : 503, text, `${why ?? "ok"}\n`);
  } else if (page !== undefined) {
    const { contentType, body } = page();
    send(200, contentType, body);
  } else send(404, text, `${["/metrics", "/livez", "/readyz", ...by.pages.keys()].join(", ")} are here\n`);
};
