/** The front door's server: plain or over TLS, and behind balancers that say in a PROXY header whose a connection is. */
import { createServer, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server as NetServer, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { takeProxyHeader } from "#shared/proxy-header.ts";
import type { TlsFiles } from "#shared/tls-files.ts";
import type { Connections } from "./connections.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Peers } from "./peers.ts";

export type FrontSocketRules = {
  /** null: plain HTTP. */
  readonly tls: TlsFiles | null;
  /** Whether trusted proxies begin their connections with a PROXY header. */
  readonly proxyProtocol: boolean;
  readonly peers: Peers;
  readonly connections: Pick<Connections, "opened" | "secured">;
  readonly metrics: HttpMetrics;
  readonly headersMs: number;
};

const HANDSHAKE_MS = 10_000;
const OLDEST_TLS = "TLSv1.2";

/** Does not listen yet. HTTP/1.1 alone: the clients of model APIs speak it, and a redirect gains nothing by HTTP/2. */
export const createFrontServer = (options: ServerOptions, rules: FrontSocketRules): Server => {
  const { tls, connections } = rules;
  const server = tls === null ? createServer(options) : secureServer(tls, options, rules);
  takeConnections(server, (socket, go) => {
    connections.opened(socket);
    if (!rules.proxyProtocol || !rules.peers.isProxy(socket)) return go();
    takeProxyHeader(socket, {
      deadlineMs: rules.headersMs,
      onRead: (_, client) => {
        rules.peers.announced(socket, client);
        go();
      },
      onRefused: (reason) => rules.metrics.proxyHeadersRefused.inc({ reason }),
    });
  });
  return server;
};

const secureServer = (tls: TlsFiles, options: ServerOptions, { connections, metrics }: FrontSocketRules): Server => {
  const { certificate, key } = tls.current();
  const server = createTlsServer({
    ...options,
    cert: certificate,
    key,
    minVersion: OLDEST_TLS,
    handshakeTimeout: HANDSHAKE_MS,
    ALPNProtocols: ["http/1.1"],
  });
  /** TLS on top of a socket is another object with the same ends. */
  const below = new Map<string, Socket>();
  server.on("connection", (socket: Socket) => {
    const ends = endsOf(socket);
    below.set(ends, socket);
    socket.once("close", () => below.delete(ends));
  });
  server.prependListener("secureConnection", (socket: TLSSocket) => {
    const raw = below.get(endsOf(socket));
    if (raw !== undefined) connections.secured(raw, socket);
  });
  server.on("tlsClientError", (fault: Error & { readonly code?: string }) =>
    metrics.clientErrors.inc({ code: fault.code ?? "unknown" }),
  );
  tls.onTaken(() => {
    const now = tls.current();
    server.setSecureContext({ cert: now.certificate, key: now.key });
  });
  return server;
};

/** Puts `onConnection` before the server's own listeners, which begin to read at once. */
const takeConnections = (server: NetServer, onConnection: (socket: Socket, go: () => void) => void): void => {
  const own = server.listeners("connection") as ((this: NetServer, socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    onConnection(socket, () => {
      for (const listener of own) listener.call(server, socket);
    });
  });
};

const endsOf = ({ remoteAddress, remotePort, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localPort}`;
