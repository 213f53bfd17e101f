/** One TCP socket and its connections: many queries at once, answers in any order, and no peer can hold more than its share. */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import { TCP_PAYLOAD_OCTETS } from "./answer.ts";
import type { Listener } from "./listen.ts";
import { prefixText, sourcePrefix } from "./prefix.ts";
import { type Connection, createConnection } from "./tcp-connection.ts";
import type { ListenerOptions } from "./udp-listener.ts";

export type TcpListenerOptions = ListenerOptions & { readonly clock: Pick<Clock, "monotonicMs"> };

/** How often idle connections are looked for. */
const SWEEP_MS = 1_000;

export const createTcpListener = (options: TcpListenerOptions): Listener => {
  const { tally, log, limits, clock, isShared } = options;
  // The one idle longest comes first: a connection moves to the end with every query.
  const connections = new Set<Connection>();
  /** Of each peer that has any. */
  const counts = new Map<string, number>();
  const scratch = Buffer.alloc(TCP_PAYLOAD_OCTETS + 2);
  let server: Server | null = null;
  let sweeping: NodeJS.Timeout | null = null;

  const drop = (connection: Connection, reason: string): void => {
    tally.tcpClosed(reason);
    connection.destroy();
  };
  const countOf = (peer: string): number => counts.get(peer) ?? 0;
  const remember = (connection: Connection): void => {
    connections.add(connection);
    counts.set(connection.peer, countOf(connection.peer) + 1);
  };
  const forget = (connection: Connection): void => {
    if (!connections.delete(connection)) return;
    const left = countOf(connection.peer) - 1;
    if (left > 0) counts.set(connection.peer, left);
    else counts.delete(connection.peer);
  };
  const longestIdleOf = (peer: string): Connection | undefined => {
    for (const connection of connections) if (connection.peer === peer) return connection;
    return undefined;
  };
  /** For one more, of this peer and of all. */
  const makeRoom = (peer: string): void => {
    const isPeerFull = countOf(peer) >= limits.tcpConnectionsPerPeer;
    if (!isPeerFull && connections.size < limits.tcpConnections) return;
    const [longestIdle] = isPeerFull ? [longestIdleOf(peer)] : connections;
    if (longestIdle === undefined) return;
    // Its socket closes in a later turn; room is needed now.
    forget(longestIdle);
    drop(longestIdle, "evicted");
  };
  const accept = (socket: Socket): void => {
    const peer = peerOf(socket.remoteAddress ?? "");
    makeRoom(peer);
    const connection: Connection = createConnection(socket, {
      ...options,
      peer,
      scratch,
      onQuery: () => {
        if (connections.delete(connection)) connections.add(connection);
      },
      onClosed: () => {
        forget(connection);
        tally.tcpConnections(connections.size);
      },
    });
    remember(connection);
    tally.tcpConnections(connections.size);
  };
  const sweep = (): void => {
    const oldestMs = clock.monotonicMs() - limits.tcpIdleMs;
    for (const connection of connections) {
      if (connection.lastQueryAtMs() > oldestMs) return;
      drop(connection, "idle");
    }
  };

  const serve = async (address: string, listen: (made: Server) => void): Promise<Server> => {
    const made = createServer({ allowHalfOpen: true, noDelay: true, highWaterMark: limits.tcpUnsentOctets }, accept);
    listen(made);
    await once(made, "listening");
    made.on("error", (fault) => log.warn("dns.socket-error", { address, fault: fault.message }));
    sweeping = setInterval(sweep, Math.min(SWEEP_MS, limits.tcpIdleMs / 4)).unref();
    server = made;
    return made;
  };

  return {
    open: async ({ address, port }) => {
      const ipv6Only = address.includes(":");
      const made = await serve(address, (one) => one.listen({ host: address, port, ipv6Only, reusePort: isShared }));
      const bound = made.address();
      return bound === null || typeof bound === "string" ? port : bound.port;
    },
    adopt: async ({ fd, address }) => {
      await serve(address, (one) => one.listen({ fd }));
    },
    close: async () => {
      if (sweeping !== null) clearInterval(sweeping);
      if (server === null) return;
      const closed = once(server, "close");
      server.close();
      for (const connection of connections) connection.finish();
      const deadline = setTimeout(() => {
        for (const connection of connections) drop(connection, "stopping");
      }, limits.tcpCloseMs);
      await closed;
      clearTimeout(deadline);
    },
  };
};

/** Whoever has an IPv6 address has a network full of them. */
const peerOf = (address: string): string => (address.includes(":") ? prefixText(sourcePrefix(address)) : address);
