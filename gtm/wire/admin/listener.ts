/** A listening socket of node:http, opened with errors that name the address and closed without waiting for idlers. */

import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import { OperationalError } from "#shared/errors.ts";

export type Address = { readonly address: string; readonly port: number };

export type Listener = {
  readonly address: () => Address;
  readonly open: () => Promise<void>;
  /** Lets requests that run finish; what is merely connected is cut. */
  readonly close: () => Promise<void>;
};

/** Whoever sends headers or a body a byte a second is let go (CWE-400). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** @param at port 0: any free one */
export const createListener = (name: string, at: Address, onRequest: RequestListener): Listener => {
  let server: Server | null = null;
  return {
    address: () => {
      const bound = server?.address();
      if (bound === undefined || bound === null || typeof bound === "string") throw new Error(`${name}: not listening`);
      return { address: bound.address, port: bound.port };
    },
    open: async () => {
      const opened = createServer(
        { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
        onRequest,
      );
      opened.listen(at.port, at.address);
      try {
        await once(opened, "listening");
      } catch (cause) {
        const found = cause instanceof Error ? cause.message : String(cause);
        throw new OperationalError("GTM_LISTEN_FAILED", `${name} on ${textOf(at)}: ${found}`, { cause });
      }
      server = opened;
    },
    close: async () => {
      const open = server;
      if (open === null) return;
      server = null;
      const closed = once(open, "close");
      open.close();
      open.closeIdleConnections();
      await closed;
    },
  };
};

export const textOf = ({ address, port }: Address): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
