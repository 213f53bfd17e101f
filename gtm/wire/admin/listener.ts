/** A listening socket of node:http, opened with errors that name the address and closed without waiting for idlers. */

import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { OperationalError } from "#shared/errors.ts";

export type Address = { readonly address: string; readonly port: number };

export type Listener = {
  readonly address: () => Address;
  readonly open: () => Promise<void>;
  /** Lets requests that run finish, for two seconds; what is merely connected is cut at once. */
  readonly close: () => Promise<void>;
};

/** Whoever sends headers or a body a byte a second is let go (CWE-400). */
export const PATIENCE = { headersMs: 10_000, requestMs: 30_000, checkMs: 1_000 } as const;

export type ListenerOptions = {
  /** For errors, such as "admin". */
  readonly name: string;
  /** Port 0: any free one. */
  readonly listen: Address;
  readonly onRequest: RequestListener;
  readonly patience?: { readonly headersMs: number; readonly requestMs: number; readonly checkMs: number };
};

export const createListener = ({ name, listen, onRequest, patience = PATIENCE }: ListenerOptions): Listener => {
  let server: Server | null = null;
  const idle = new Set<Socket>();
  return {
    address: () => {
      const bound = server?.address();
      if (bound === undefined || bound === null || typeof bound === "string") throw new Error(`${name}: not listening`);
      return { address: bound.address, port: bound.port };
    },
    open: async () => {
      const opened = createServer(
        {
          headersTimeout: patience.headersMs,
          requestTimeout: patience.requestMs,
          connectionsCheckingInterval: patience.checkMs,
        },
        onRequest,
      );
      keepIdle(opened, idle);
      opened.listen(listen.port, listen.address);
      try {
        await once(opened, "listening");
      } catch (cause) {
        const found = cause instanceof Error ? cause.message : String(cause);
        throw new OperationalError("GTM_LISTEN_FAILED", `${name} on ${textOf(listen)}: ${found}`, { cause });
      }
      server = opened;
    },
    close: async () => {
      const open = server;
      if (open === null) return;
      server = null;
      const closed = once(open, "close");
      open.close();
      // Node counts a connection as idle only after its first request.
      for (const socket of idle) socket.destroy();
      const grace = setTimeout(() => open.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(grace);
    },
  };
};

const GRACE_MS = 2_000;

/** Keeps the set of connections on which no request runs. */
const keepIdle = (server: Server, idle: Set<Socket>): void => {
  server.on("connection", (socket: Socket) => {
    idle.add(socket);
    socket.once("close", () => idle.delete(socket));
  });
  server.on("request", (request, response) => {
    const { socket } = request;
    idle.delete(socket);
    response.once("close", () => {
      if (!socket.destroyed) idle.add(socket);
    });
  });
};

export const textOf = ({ address, port }: Address): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
