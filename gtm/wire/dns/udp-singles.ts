/**
 * Datagrams answered one at a time, as Node hands them over: up to 32 in a turn of the event loop. Their answers are sent after the
 * last, which costs a third less than to read and send in turn, since the processor then finds either way's code in its caches
 * (test/bench/dns.bench.ts).
 */
import type { RemoteInfo, Socket } from "node:dgram";
import { UDP_PAYLOAD_OCTETS } from "./edns.ts";
import type { Receive, ReceiveOptions } from "./udp-receive.ts";

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

/** @param most answers that the kernel has not taken; further queries are dropped */
export const createSingles = ({ answer, tally, underWay }: ReceiveOptions, socket: Socket, most: number): Receive => {
  let slots = 0;
  const free: Slot[] = [];
  const answered: Slot[] = [];

  const ended = (error: Error | null): void => {
    if (error !== null) tally.sendFailed("udp");
    underWay.ended();
  };
  const takeSlot = (): Slot | null => {
    const slot = free.pop();
    if (slot !== undefined) return slot;
    if (slots >= most) return null;
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
  const send = (octets: Uint8Array, peer: RemoteInfo, sent: (error: Error | null) => void): void => {
    try {
      socket.send(octets, peer.port, peer.address, sent);
    } catch (fault) {
      sent(fault instanceof Error ? fault : new Error(String(fault)));
    }
  };
  const sendLater = async (pending: Promise<Uint8Array | null>, peer: RemoteInfo): Promise<void> => {
    underWay.begun();
    const octets = await pending;
    if (octets === null) ended(null);
    else send(octets, peer, ended);
  };
  const sendAnswered = (): void => {
    for (const slot of answered) {
      const { peer } = slot;
      slot.peer = null;
      if (peer !== null) send(viewOf(slot), peer, slot.sent);
    }
    answered.length = 0;
  };
  const queue = (slot: Slot, peer: RemoteInfo): void => {
    underWay.begun();
    slot.peer = peer;
    // With this turn's first: before the next turn reads.
    if (answered.push(slot) === 1) setImmediate(sendAnswered);
  };

  return (message, peer) => {
    const slot = takeSlot();
    if (slot === null) {
      tally.dropped("overload");
      return;
    }
    const length = answer(message, peer.address, slot.octets);
    if (typeof length === "number" && length > 0) {
      slot.length = length;
      queue(slot, peer);
      return;
    }
    free.push(slot);
    if (typeof length !== "number") void sendLater(length, peer);
  };
};

const viewOf = ({ views, octets, length }: Slot): Buffer => {
  views[length] ??= octets.subarray(0, length);
  return views[length];
};
