/** A network between the demo's programs and a Redis that is not the demo's to kill: a TCP proxy that can be cut and healed. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { OperationalError } from "#shared/errors.ts";
import type { Endpoint } from "#shared/store-url.ts";

export type Partition = {
  readonly endpoint: Endpoint;
  /** From now on nothing gets through; connections stay open, new ones are taken and hear nothing. */
  readonly cut: () => void;
  /** Connections of the time before end: what they had sent into the void never arrives. */
  readonly heal: () => void;
  readonly stop: () => Promise<void>;
};

const HOST = "127.0.0.1";

/** @throws {OperationalError} GTM_LISTEN_FAILED */
export const startPartition = async (target: Endpoint): Promise<Partition> => {
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // What follows from an error is done at its close.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const pass = (from: Socket, to: Socket): void => {
    from.on("data", (bytes) => {
      if (!to.write(bytes)) from.pause();
    });
    from.on("drain", () => {
      if (!isCut) to.resume();
    });
    from.on("close", () => {
      // Where the network is cut nobody hears that the other side is gone.
      if (!isCut) to.destroy();
    });
  };
  const server = createServer({ noDelay: true }, (near) => {
    keep(near);
    if (isCut) {
      near.pause();
      return;
    }
    const far = keep(connect({ ...target, noDelay: true }));
    pass(near, far);
    pass(far, near);
  });
  server.listen(0, HOST);
  await once(server, "listening").catch((cause: unknown) => {
    throw new OperationalError("GTM_LISTEN_FAILED", `${HOST}: ${String(cause)}`, { cause });
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return {
    endpoint: { host: HOST, port: address.port },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal: () => {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
};
