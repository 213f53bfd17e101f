/** A TCP proxy that puts a distance between two ends: what either says takes half a round trip, and opening a connection a whole one. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type FarAway = AsyncDisposable & { readonly port: number };

export type Distance = {
  readonly to: { readonly address: string; readonly port: number };
  /** It listens there, on any free port. */
  readonly address: string;
  readonly rttMs: number;
  /** Default: any free one. */
  readonly port?: number;
};

export const startFarAway = async ({ to, address, rttMs, port = 0 }: Distance): Promise<FarAway> => {
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    const far = connect({ host: to.address, port: to.port, noDelay: true, allowHalfOpen: true });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => open.delete(socket));
    }
    // Loopback shakes hands in no time; the client may speak a round trip after that.
    const shakenAtMs = performance.now() + rttMs;
    carry(near, far, rttMs / 2, shakenAtMs);
    carry(far, near, rttMs / 2, 0);
  });
  server.listen(port, address);
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a TCP server without a port");
  return {
    port: bound.port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};

const carry = (from: Socket, to: Socket, delayMs: number, notBeforeMs: number): void => {
  /** Timers of different lengths may fire in another order; each waits for the one before. */
  let last = Promise.resolve();
  const later = (act: () => void): void => {
    const dueMs = Math.max(performance.now(), notBeforeMs) + delayMs;
    const due = new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    last = Promise.all([last, due]).then(act);
  };
  from.on("data", (octets) => later(() => void (to.destroyed || to.write(octets))));
  from.on("end", () => later(() => void (to.destroyed || to.end())));
  from.on("close", () => later(() => void to.destroy()));
};
