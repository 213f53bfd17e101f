/** One listening address: HTTP/1.1, over TLS also HTTP/2, behind a balancer's PROXY header where it comes from a trusted one. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { TlsFiles } from "#shared/tls-files.ts";
import { createClientErrors } from "./client-error.ts";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import { watchHandshakes } from "./handshakes.ts";

export type ListenerRules = {
  /** `host:port`, IPv6 in brackets; port 0: any. */
  readonly listen: string;
  /** null: plain HTTP. */
  readonly tls: TlsFiles | null;
  readonly mostConnections: number;
  /** A new connection, before anything is read of it; calls `go` when HTTP may be read of it. */
  readonly onConnection: (socket: Socket, go: () => void) => void;
  /** How long the client took to answer our first flight; only where TLS is ours. */
  readonly onHandshake: (socket: TLSSocket, tookMs: number) => void;
  readonly onRequest: (incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean) => void;
  readonly isAnswering: (socket: Duplex) => boolean;
  readonly metrics: GatewayMetrics;
  readonly log: Logger;
};

export type Listener = {
  readonly address: { readonly address: string; readonly port: number };
  /** New connections get the certificate that `tls` has now. */
  readonly renewCertificate: () => void;
  /** Takes no more connections; those that are open stay. */
  readonly refuseMore: () => void;
  /** Ends what is left in timers. All connections are closed by then. */
  readonly close: () => void;
};

const HEADER_BYTES = 32_768;
const HEADERS_MS = 10_000;
/** Longer than the 60 s of common balancers, or they would send into a closing connection. */
const KEEP_ALIVE_MS = 65_000;
/** A backstop: bodies have a limit of their own on silence. */
const REQUEST_MS = 3_600_000;
const HANDSHAKE_MS = 10_000;
const MOST_STREAMS = 256;

const HTTP1 = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: 1_000,
};

/** @throws {OperationalError} GTM_LISTEN_FAILED, naming the address */
export const openListener = async (rules: ListenerRules): Promise<Listener> => {
  const { listen, tls, metrics, log } = rules;
  const server = tls === null ? createServer(HTTP1) : secureServer(tls, rules);
  server.maxConnections = rules.mostConnections;
  takeConnections(server, rules);
  const onRequest = rules.onRequest as (incoming: unknown, outgoing: unknown, expectsContinue: boolean) => void;
  server.on("request", (incoming: unknown, outgoing: unknown) => onRequest(incoming, outgoing, false));
  server.on("checkContinue", (incoming: unknown, outgoing: unknown) => onRequest(incoming, outgoing, true));
  server.on("clientError", createClientErrors(metrics.clientErrors, rules.isAnswering));
  server.on("drop", () => metrics.refusedConnections.inc());

  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(listen) ?? [];
  server.listen({ host, port: Number(port) });
  try {
    await once(server, "listening");
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new OperationalError("GTM_LISTEN_FAILED", `listen ${listen}: ${found}`, { cause });
  }
  // Such as a process that is out of descriptors: it goes on with the connections that it has.
  server.on("error", (fault: Error) => {
    metrics.acceptFailures.inc();
    log.warn("gateway.accept-failed", { fault: fault.message });
  });
  return {
    address: server.address() as AddressInfo,
    renewCertificate: () => {
      if (tls === null || !("setSecureContext" in server)) return;
      const { certificate, key } = tls.current();
      server.setSecureContext({ cert: certificate, key });
    },
    // Not the server's own close: it would cut idle connections under the next request of a busy client.
    refuseMore: () => void NetServer.prototype.close.call(server),
    close: () => void server.close(),
  };
};

const secureServer = (tls: TlsFiles, rules: ListenerRules): Http2SecureServer => {
  const { certificate, key } = tls.current();
  const handshakes = watchHandshakes(tls, rules.onHandshake);
  const server = createSecureServer({
    ...HTTP1,
    allowHTTP1: true,
    cert: certificate,
    key,
    minVersion: "TLSv1.2",
    handshakeTimeout: HANDSHAKE_MS,
    SNICallback: handshakes.onServerName,
    settings: { maxConcurrentStreams: MOST_STREAMS, maxHeaderListSize: HEADER_BYTES },
  });
  server.on("secureConnection", handshakes.onSecured);
  server.on("tlsClientError", (error) => rules.metrics.clientErrors.inc({ code: codeOf(error) }));
  server.on("sessionError", (error) => rules.metrics.clientErrors.inc({ code: codeOf(error) }));
  // A session without streams ends like an idle connection; streams that wait for tokens are let end.
  server.on("session", (session) => session.setTimeout(KEEP_ALIVE_MS, () => session.close()));
  return server;
};

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "unknown");

/** Puts `onConnection` before the server's own listener, which begins to read at once. */
const takeConnections = (server: NetServer, { onConnection }: ListenerRules): void => {
  const own = server.listeners("connection") as ((this: NetServer, socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    // HTTP/1.1 on an HTTP/2 server gets none of its own: the first token would wait 40 ms for the client's delayed ACK of the head.
    socket.setNoDelay(true);
    onConnection(socket, () => {
      for (const listener of own) listener.call(server, socket);
    });
  });
};
