/** A listening socket for HTTP/1.1: bounded in every direction, and closed without dropping what it accepted. */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import { createClientErrors } from "./client-error.ts";
import type { Connections } from "./connections.ts";
import { createFrontServer, type FrontSocketRules } from "./front-socket.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Limits } from "./limits.ts";

export type Address = { readonly address: string; readonly port: number };

export type Listener = {
  readonly address: Address;
  /** Resolves once the last connection is closed; what is still busy at the deadline is cut, counted and warned of. */
  readonly close: () => Promise<void>;
};

export type ListenerRules = Pick<FrontSocketRules, "tls" | "proxyProtocol" | "peers"> & {
  /** Port 0: any free one. */
  readonly listen: Address;
  readonly limits: Limits;
  readonly connections: Connections;
  readonly metrics: HttpMetrics;
  readonly log: Logger;
};

/** Sooner than a tenth of the shortest limit would be needless work. */
const MOST_CHECK_MS = 1_000;

/** @throws {OperationalError} GTM_LISTEN_FAILED, naming the address */
export const openListener = async (
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
  rules: ListenerRules,
): Promise<Listener> => {
  const { listen, limits, connections, metrics, log } = rules;
  const options = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    // Bodies have limits of their own, and an answer; one that is forwarded takes as long as its region does.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(MOST_CHECK_MS, limits.headersMs / 10),
    // Answered with a problem and counted, like everything else that is malformed.
    requireHostHeader: false,
  };
  const server = createFrontServer(options, { ...rules, headersMs: limits.headersMs });
  // Node leaves out what is beyond; one more, so that the request can be refused instead.
  server.maxHeadersCount = limits.headerCount + 1;
  server.maxConnections = limits.connections;
  server.on("drop", () => metrics.refusedConnections.inc());
  server.on("request", onRequest);
  server.on("checkContinue", onRequest);
  server.on("clientError", createClientErrors({ metrics, lingerMs: limits.lingerMs, connections }));

  server.listen({ port: listen.port, host: listen.address });
  try {
    await once(server, "listening");
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new OperationalError("GTM_LISTEN_FAILED", `http on ${textOf(listen)}: ${found}`, { cause });
  }
  // Such as a process that is out of descriptors: it goes on with the connections that it has.
  server.on("error", (fault) => {
    metrics.acceptFailures.inc();
    log.warn("http.accept-failed", { fault: fault.message });
  });
  return { address: boundAddress(server), close: () => close(server, rules) };
};

export const textOf = ({ address, port }: Address): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

const boundAddress = (server: Server): Address => {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("http: listens, yet not on an address");
  return { address: bound.address, port: bound.port };
};

/** A client that goes on connecting cannot keep the socket open. */
const MOST_TAKEN_IN = 2_048;
/** Nothing came in so many turns of the event loop: the kernel's queue is empty. */
const QUIET_TURNS = 3;

/**
 * Takes in the connections that the kernel has accepted for us: their clients believe themselves connected and may have
 * sent their request. The event loop takes one a turn.
 */
const takeInQueue = async (server: Server): Promise<void> => {
  let taken = 0;
  const onConnection = (): void => {
    taken += 1;
  };
  server.on("connection", onConnection);
  let quietTurns = 0;
  while (quietTurns < QUIET_TURNS && taken < MOST_TAKEN_IN) {
    const before = taken;
    await setImmediate();
    quietTurns = taken === before ? quietTurns + 1 : 0;
  }
  server.off("connection", onConnection);
};

const close = async (server: Server, { limits, connections, metrics, log }: ListenerRules): Promise<void> => {
  await takeInQueue(server);
  // Not the server's own close: it would cut idle connections at once, under the next request of a busy client.
  NetServer.prototype.close.call(server);
  const closed = connections.allClosed();
  const timers = [
    setTimeout(() => {
      connections.closeSilent();
      server.closeIdleConnections();
    }, limits.stopIdleMs),
    setTimeout(() => {
      const count = connections.cut();
      metrics.cutConnections.inc({}, count);
      log.warn("http.stop.cut", { connections: count, stopMs: limits.stopMs });
    }, limits.stopMs),
  ];
  await closed;
  for (const timer of timers) clearTimeout(timer);
  // Ends Node's timer that looks after slow clients; nothing else is left to close.
  server.close();
};
