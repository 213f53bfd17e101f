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
type Connection = { readonly exchanges: Exchange[]; whenAnswered: (() => void) | null };

export const createConnections = (metrics: HttpMetrics): Connections => {
  const open = new Map<Duplex, Connection>();
  let whenEmpty = (): void => {};

  const closed = (socket: Socket): void => {
    open.delete(socket);
    metrics.connections.set(open.size);
    if (open.size === 0) whenEmpty();
  };
  const ended = (connection: Connection, exchange: Exchange): void => {
    connection.exchanges.splice(connection.exchanges.indexOf(exchange), 1);
    if (!hasWhole(connection)) connection.whenAnswered?.();
  };

  return {
    opened: (socket) => {
      open.set(socket, { exchanges: [], whenAnswered: null });
      metrics.connections.set(open.size);
      socket.once("close", () => closed(socket));
    },
    began: (incoming, outgoing) => {
      const connection = open.get(incoming.socket);
      if (connection === undefined) return;
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
      for (const socket of open.keys()) if ("bytesRead" in socket && socket.bytesRead === 0) socket.destroy();
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
