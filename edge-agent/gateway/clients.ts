/** The open connections and the turns under way on them, so that stopping cuts nothing that can still end. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { GatewayMetrics } from "./gateway-metrics.ts";

export type Clients = {
  readonly opened: (socket: Socket) => void;
  readonly began: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Whether an answer is under way on this connection of HTTP/1.1. */
  readonly isAnswering: (socket: Duplex) => boolean;
  readonly underWay: () => number;
  /** Resolves once no turn is under way. */
  readonly allEnded: () => Promise<void>;
  /** Closes every connection. */
  readonly closeAll: () => void;
};

export const createClients = (metrics: Pick<GatewayMetrics, "connections" | "underWay">): Clients => {
  const open = new Set<Socket>();
  const answering = new Map<Duplex, number>();
  let underWay = 0;
  let whenEnded = (): void => {};

  const ended = (socket: Duplex): void => {
    underWay -= 1;
    metrics.underWay.set(underWay);
    const left = (answering.get(socket) ?? 1) - 1;
    if (left === 0) answering.delete(socket);
    else answering.set(socket, left);
    if (underWay === 0) whenEnded();
  };

  return {
    opened: (socket) => {
      open.add(socket);
      metrics.connections.set(open.size);
      socket.once("close", () => {
        open.delete(socket);
        metrics.connections.set(open.size);
      });
    },
    began: ({ socket }, outgoing) => {
      underWay += 1;
      metrics.underWay.set(underWay);
      answering.set(socket, (answering.get(socket) ?? 0) + 1);
      outgoing.once("close", () => ended(socket));
    },
    isAnswering: (socket) => answering.has(socket),
    underWay: () => underWay,
    allEnded: () =>
      new Promise((resolve) => {
        whenEnded = resolve;
        if (underWay === 0) resolve();
      }),
    closeAll: () => {
      for (const socket of open) socket.destroySoon();
    },
  };
};
