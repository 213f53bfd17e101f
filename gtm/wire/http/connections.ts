/** The open connections and what is under way on each, so that stopping drops nothing that was accepted. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HttpMetrics } from "./http-metrics.ts";

/** What a connection that broke still owes. */
export type Standing =
  /** Nothing; or an answer to the very request that broke. */
  | "free"
  /** The request that broke has had its answer already. */
  | "answered"
  /** Answers to whole requests that came before. */
  | "due";

export type Connections = {
  readonly opened: (socket: Socket) => void;
  /** TLS stands on a connection that was opened: from now on it is the one that requests come by. */
  readonly secured: (raw: Socket, socket: Socket) => void;
  readonly began: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Whether no other request has come after it on its connection, as happens when the client pipelines. */
  readonly isNewest: (incoming: IncomingMessage) => boolean;
  readonly standingOf: (socket: Duplex) => Standing;
  /** Calls back once all whole requests of the connection have been answered; never, if it closes before. */
  readonly onceAnswered: (socket: Duplex, then: () => void) => void;
  /** Closes what never sent anything. */
  readonly closeSilent: () => void;
  /** @returns how many there were */
  readonly cut: () => number;
  /** Resolves once none is open. */
  readonly allClosed: () => Promise<void>;
};

type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };
type Connection = {
  readonly exchanges: Exchange[];
  /** Octets that came before anything of HTTP could. */
  readonly quietOctets: number;
  hasBegun: boolean;
  whenAnswered: (() => void) | null;
};

export const createConnections = (metrics: HttpMetrics): Connections => {
  const open = new Map<Duplex, Connection>();
  let whenEmpty = (): void => {};

  const closed = (socket: Socket): void => {
    open.delete(socket);
    metrics.connections.set(open.size);
    if (open.size === 0) whenEmpty();
  };
  const add = (socket: Socket, quietOctets: number): void => {
    open.set(socket, { exchanges: [], quietOctets, hasBegun: false, whenAnswered: null });
    metrics.connections.set(open.size);
    socket.once("close", () => closed(socket));
  };
  const ended = (connection: Connection, exchange: Exchange): void => {
    connection.exchanges.splice(connection.exchanges.indexOf(exchange), 1);
    if (!hasWhole(connection)) connection.whenAnswered?.();
  };

  return {
    opened: (socket) => {
      add(socket, 0);
    },
    secured: (raw, socket) => {
      open.delete(raw);
      add(socket, socket.bytesRead);
    },
    began: (incoming, outgoing) => {
      const connection = open.get(incoming.socket);
      if (connection === undefined) return;
      connection.hasBegun = true;
      const exchange = { incoming, outgoing };
      connection.exchanges.push(exchange);
      outgoing.on("close", () => ended(connection, exchange));
    },
    isNewest: (incoming) => open.get(incoming.socket)?.exchanges.at(-1)?.incoming === incoming,
    standingOf: (socket) => {
      const connection = open.get(socket);
      if (connection === undefined) return "free";
      if (hasWhole(connection)) return "due";
      return connection.exchanges.some(({ outgoing }) => outgoing.headersSent) ? "answered" : "free";
    },
    onceAnswered: (socket, then) => {
      const connection = open.get(socket);
      if (connection !== undefined) connection.whenAnswered = then;
    },
    closeSilent: () => {
      for (const [socket, { quietOctets, hasBegun }] of open) {
        if (!hasBegun && "bytesRead" in socket && Number(socket.bytesRead) <= quietOctets) socket.destroy();
      }
    },
    cut: () => {
      const count = open.size;
      for (const socket of open.keys()) socket.destroy();
      return count;
    },
    allClosed: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      whenEmpty = resolve;
      if (open.size === 0) resolve();
      return promise;
    },
  };
};

const hasWhole = ({ exchanges }: Connection): boolean => exchanges.some(({ incoming }) => incoming.complete);
