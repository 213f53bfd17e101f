/** The open connections and the turns under way on them, so that stopping cuts nothing that can still end. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { GatewayMetrics } from "./gateway-metrics.ts";

export type Clients = {
  readonly opened: (socket: Socket) => void;
  readonly began: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Whether something is due on this connection of HTTP/1.1 beside an answer to a request that broke before its end. */
  readonly isAnswering: (socket: Duplex) => boolean;
  readonly underWay: () => number;
  /** Resolves once no turn is under way. */
  readonly allEnded: () => Promise<void>;
  /** Closes every connection. */
  readonly closeAll: () => void;
};

type Turn = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };

export const createClients = (metrics: Pick<GatewayMetrics, "connections" | "underWay">): Clients => {
  const open = new Set<Socket>();
  const turns = new Map<Duplex, Set<Turn>>();
  let underWay = 0;
  let whenEnded = (): void => {};

  const ended = (socket: Duplex, turn: Turn): void => {
    underWay -= 1;
    metrics.underWay.set(underWay);
    const others = turns.get(socket);
    others?.delete(turn);
    if (others?.size === 0) turns.delete(socket);
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
    began: (incoming, outgoing) => {
      const { socket } = incoming;
      const turn = { incoming, outgoing };
      underWay += 1;
      metrics.underWay.set(underWay);
      turns.set(socket, (turns.get(socket) ?? new Set()).add(turn));
      outgoing.once("close", () => ended(socket, turn));
    },
    isAnswering: (socket) =>
      [...(turns.get(socket) ?? [])].some(({ incoming, outgoing }) => incoming.complete || outgoing.headersSent),
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
