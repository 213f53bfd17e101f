/** One UDP socket: what comes in is answered from where it came in, one datagram at a time or several; no send error ends anything. */
import { createSocket, type Socket, type SocketOptions } from "node:dgram";
import { once } from "node:events";
import { getSystemErrorName } from "node:util";
import type { Logger } from "#shared/logger.ts";
import type { AnswerStep } from "./answer.ts";
import type { Libc } from "./libc.ts";
import type { DnsLimits } from "./limit.ts";
import type { Listener } from "./listen.ts";
import type { Tally } from "./tally.ts";
import { createBatches } from "./udp-batches.ts";
import type { Receive } from "./udp-receive.ts";
import { createSingles } from "./udp-singles.ts";

export type ListenerOptions = {
  readonly answer: AnswerStep;
  readonly tally: Tally;
  readonly log: Logger;
  readonly limits: DnsLimits;
  /** Other threads listen on the same address, and the kernel spreads what comes over them. */
  readonly isShared: boolean;
};

export type UdpListenerOptions = ListenerOptions & {
  /** null: datagrams come and go one at a time. */
  readonly libc: Libc | null;
};

/** A burst of queries waits in the kernel rather than being dropped there; Linux cuts this to net.core.rmem_max. */
const RECEIVE_BUFFER_OCTETS = 4 * 1024 * 1024;

/** @param make opens a socket; tests put their hands on it */
export const createUdpListener = (
  { answer, tally, log, limits, isShared, libc }: UdpListenerOptions,
  make: (options: SocketOptions) => Socket = createSocket,
): Listener => {
  let socket: Socket | null = null;
  let isClosing = false;
  let answers = 0;
  const idle = Promise.withResolvers<void>();

  const underWay = {
    begun: () => {
      answers += 1;
    },
    ended: () => {
      answers -= 1;
      if (isClosing && answers === 0) idle.resolve();
    },
  };
  const socketError = (fault: string): void => {
    tally.sendFailed("udp");
    log.warn("dns.socket-error", { fault });
  };
  const receiveOn = (made: Socket, fd: number | null): Receive => {
    if (libc === null || fd === null) return createSingles({ answer, tally, underWay }, made, limits.udpUnsentAnswers);
    const onFailed = (error: number): void => socketError(`recvmmsg ${getSystemErrorName(error)}`);
    return createBatches({ answer, tally, underWay, libc, onFailed }, fd);
  };

  /** @param fd null: of a socket that Node opens */
  const serve = async (family: 4 | 6, fd: number | null, bind: (made: Socket) => unknown): Promise<Socket> => {
    const made = make({
      type: family === 6 ? "udp6" : "udp4",
      // IPv4 has a socket of its own, on the same port.
      ipv6Only: family === 6,
      reusePort: isShared,
      recvBufferSize: RECEIVE_BUFFER_OCTETS,
      // Peers are addresses, not names: the default look-up would cost a turn of the event loop for each answer.
      lookup: (host, _options, done) => done(null, host, family),
    });
    const listening = once(made, "listening");
    try {
      bind(made);
      await listening;
    } catch (fault) {
      made.close();
      throw fault;
    }
    const receive = receiveOn(made, fd);
    made.on("error", (fault) => socketError(fault.message));
    made.on("message", (message, peer) => {
      // Nobody listens on port 0, and sending to it throws.
      const refusal = isClosing ? "stopping" : peer.port === 0 ? "port-zero" : null;
      if (refusal === null) receive(message, peer);
      else tally.dropped(refusal);
    });
    socket = made;
    return made;
  };

  return {
    open: async ({ address, port }) => {
      const fd = libc?.openUdp({ address, port, isShared }) ?? null;
      const bind = (made: Socket): unknown => (fd === null ? made.bind(port, address) : made.bind({ fd }));
      const made = await serve(address.includes(":") ? 6 : 4, fd, bind);
      return made.address().port;
    },
    adopt: async ({ fd, family }) => {
      await serve(family, fd, (made) => made.bind({ fd }));
    },
    close: async () => {
      isClosing = true;
      if (answers > 0) await idle.promise;
      if (socket === null) return;
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
};
