/** A network that can be cut: a TCP proxy whose connections stay open while nothing gets through; disposable. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type Partition = AsyncDisposable & {
  /** Of 127.0.0.1; leads to the target. */
  readonly port: number;
  /** From now on nothing gets through in either direction. Connections stay open, new ones are taken and hear nothing. */
  readonly cut: () => void;
  /** What was sent meanwhile arrives, as TCP sends again what was lost. */
  readonly heal: () => void;
  readonly stop: () => Promise<void>;
};

/** @param targetPort of 127.0.0.1; may be closed, or open later */
export const startPartition = async (targetPort: number): Promise<Partition> => {
  let isCut = false;
  const sockets = new Set<Socket>();
  /** Came while it was cut. */
  const waiting = new Set<Socket>();
  /** Ends of connections that the other side has not heard of. */
  const unheard: (() => void)[] = [];

  const keep = (socket: Socket, other: Socket): void => {
    const tell = (how: () => void): void => {
      if (isCut) unheard.push(how);
      else how();
    };
    sockets.add(socket);
    socket.on("data", (bytes) => {
      if (!other.write(bytes)) socket.pause();
    });
    socket.on("drain", () => {
      if (!isCut) other.resume();
    });
    socket.on("end", () => tell(() => other.end()));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      tell(() => other.destroy());
    });
  };
  const link = (near: Socket): void => {
    const far = connect({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    keep(near, far);
    keep(far, near);
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    if (!isCut) return link(near);
    near.pause();
    near.on("error", () => near.destroy());
    near.on("close", () => waiting.delete(near));
    waiting.add(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");

  const stop = async (): Promise<void> => {
    server.close();
    for (const socket of [...sockets, ...waiting]) socket.destroy();
    await once(server, "close");
  };
  return {
    port: address.port,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal: () => {
      isCut = false;
      for (const how of unheard.splice(0)) how();
      for (const socket of sockets) socket.resume();
      for (const near of waiting) {
        waiting.delete(near);
        link(near);
        near.resume();
      }
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
