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

type Connection = {
  /** Answers that are due, in the order of their requests. */
  readonly due: ServerResponse[];
  /** For the "close" of each of them: one function a connection, not one a request. */
  readonly ended: (this: ServerResponse) => void;
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
    const connection: Connection = {
      due: [],
      ended() {
        connection.due.splice(connection.due.indexOf(this), 1);
        if (!hasWhole(connection)) connection.whenAnswered?.();
      },
      quietOctets,
      hasBegun: false,
      whenAnswered: null,
    };
    open.set(socket, connection);
    metrics.connections.set(open.size);
    socket.once("close", () => closed(socket));
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
      connection.due.push(outgoing);
      outgoing.on("close", connection.ended);
    },
    isNewest: (incoming) => open.get(incoming.socket)?.due.at(-1)?.req === incoming,
    standingOf: (socket) => {
      const connection = open.get(socket);
      if (connection === undefined) return "free";
      if (hasWhole(connection)) return "due";
      return connection.due.some(({ headersSent }) => headersSent) ? "answered" : "free";
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

const hasWhole = ({ due }: Connection): boolean => due.some(({ req }) => req.complete);
