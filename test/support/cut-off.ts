/** A TCP relay before a server, so that a test can cut it off and let it through again. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type CutOff = AsyncDisposable & {
  readonly port: number;
  /** Ends every connection and takes no more. */
  readonly cut: () => Promise<void>;
  /** On the same port as before. */
  readonly mend: () => Promise<void>;
};

export const relayTo = async (port: number): Promise<CutOff> => {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  const listen = async (at: number): Promise<void> => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
  };
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port: own, cut, mend: () => listen(own), [Symbol.asyncDispose]: cut };
};
