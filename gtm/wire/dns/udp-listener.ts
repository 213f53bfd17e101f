/**
 * One UDP socket: what comes in is answered from where it came in; no send error ends anything. Node reads up to 32 datagrams
 * in a turn of the event loop: their answers are sent after the last, which costs a third less than to read and send in turn,
 * since the processor then finds either way's code in its caches (test/bench/dns.bench.ts). Where libc can be called, the first
 * datagram is only what wakes us: those behind it are received, answered and sent many at a time.
 */
import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from "node:dgram";
import { once } from "node:events";
import { getSystemErrorName } from "node:util";
import type { Logger } from "#shared/logger.ts";
import type { AnswerStep } from "./answer.ts";
import { UDP_PAYLOAD_OCTETS } from "./edns.ts";
import type { Libc } from "./libc.ts";
import type { DnsLimits } from "./limit.ts";
import type { Listener } from "./listen.ts";
import type { Tally } from "./tally.ts";
import { createDrain } from "./udp-batches.ts";

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

/** Where one answer is written, and waits until the kernel has taken it. */
type Slot = {
  readonly octets: Buffer;
  /** By length, made when first used. */
  readonly views: Buffer[];
  /** Of the answer that waits to be sent, and to whom. */
  length: number;
  peer: RemoteInfo | null;
  readonly sent: (error: Error | null) => void;
};

/** @param make opens a socket; tests put their hands on it */
export const createUdpListener = (
  { answer, tally, log, limits, isShared, libc }: UdpListenerOptions,
  make: (options: SocketOptions) => Socket = createSocket,
): Listener => {
  let socket: Socket | null = null;
  let isClosing = false;
  let underWay = 0;
  let slots = 0;
  const free: Slot[] = [];
  const answered: Slot[] = [];
  const idle = Promise.withResolvers<void>();

  const begun = (): void => {
    underWay += 1;
  };
  const ended = (error: Error | null): void => {
    underWay -= 1;
    if (error !== null) tally.sendFailed("udp");
    if (isClosing && underWay === 0) idle.resolve();
  };
  const takeSlot = (): Slot | null => {
    const slot = free.pop();
    if (slot !== undefined) return slot;
    if (slots >= limits.udpUnsentAnswers) return null;
    slots += 1;
    const made: Slot = {
      octets: Buffer.alloc(UDP_PAYLOAD_OCTETS),
      views: [],
      length: 0,
      peer: null,
      sent: (error) => {
        free.push(made);
        ended(error);
      },
    };
    return made;
  };
  const send = (from: Socket, octets: Uint8Array, peer: RemoteInfo, sent: (error: Error | null) => void): void => {
    try {
      from.send(octets, peer.port, peer.address, sent);
    } catch (fault) {
      sent(fault instanceof Error ? fault : new Error(String(fault)));
    }
  };
  const sendLater = async (from: Socket, pending: Promise<Uint8Array | null>, peer: RemoteInfo): Promise<void> => {
    begun();
    const octets = await pending;
    if (octets === null) ended(null);
    else send(from, octets, peer, ended);
  };
  const socketError = (fault: string): void => {
    tally.sendFailed("udp");
    log.warn("dns.socket-error", { fault });
  };
  const drain =
    libc === null
      ? null
      : createDrain({
          ...{ answer, tally, libc },
          onLater: (pending, sendLate) => void answerLate(pending, sendLate),
          onFailed: (error) => socketError(`recvmmsg ${getSystemErrorName(error)}`),
        });
  const answerLate = async (
    pending: Promise<Uint8Array | null>,
    sendLate: (octets: Uint8Array) => void,
  ): Promise<void> => {
    begun();
    const octets = await pending;
    if (octets !== null) sendLate(octets);
    ended(null);
  };
  const sendAnswered = (from: Socket): void => {
    for (const slot of answered) {
      const { peer } = slot;
      slot.peer = null;
      if (peer !== null) send(from, viewOf(slot), peer, slot.sent);
    }
    answered.length = 0;
  };

  const queue = (from: Socket, slot: Slot, peer: RemoteInfo): void => {
    begun();
    slot.peer = peer;
    // With this turn's first: before the next turn reads.
    if (answered.push(slot) === 1) setImmediate(sendAnswered, from);
  };

  const receive = (from: Socket, message: Buffer, peer: RemoteInfo): void => {
    // Nobody listens on port 0, and sending to it throws.
    const refusal = isClosing ? "stopping" : peer.port === 0 ? "port-zero" : null;
    const slot = refusal === null ? takeSlot() : null;
    if (slot === null) {
      tally.dropped(refusal ?? "overload");
      return;
    }
    const length = answer(message, peer.address, slot.octets);
    if (typeof length === "number" && length > 0) {
      slot.length = length;
      queue(from, slot, peer);
      return;
    }
    free.push(slot);
    if (typeof length !== "number") void sendLater(from, length, peer);
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
    made.on("error", (fault) => socketError(fault.message));
    made.on("message", (message, peer) => {
      receive(made, message, peer);
      if (drain !== null && fd !== null && !isClosing) drain(fd);
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
      if (underWay > 0) await idle.promise;
      if (socket === null) return;
      const closed = once(socket, "close");
      socket.close();
      await closed;
    },
  };
};

const viewOf = ({ views, octets, length }: Slot): Buffer => {
  views[length] ??= octets.subarray(0, length);
  return views[length];
};
