/**
 * Datagrams answered several at a time: the first of them comes by Node's socket, which woke us; those behind it are drained from the
 * socket, answered, and the answers sent together. Half of what a query costs otherwise is Node's way in and out (gtm/adr/0006).
 */
import type { RemoteInfo } from "node:dgram";
import { createDatagramBatch } from "./datagram-batch.ts";
import { UDP_PAYLOAD_OCTETS } from "./edns.ts";
import type { Libc } from "./libc.ts";
import { createPeerTexts } from "./peer-texts.ts";
import { portOf, SOCKADDR_OCTETS, writeSocketAddress } from "./socket-address.ts";
import type { Receive, ReceiveOptions } from "./udp-receive.ts";

export type BatchesOptions = ReceiveOptions & {
  readonly libc: Libc;
  /** Nothing could be received, by the -errno of it. */
  readonly onFailed: (error: number) => void;
};

/** A datagram of UDP over IPv4 or IPv6 is never longer. */
const LONGEST_QUERY_OCTETS = 65_535;
const BATCH = 32;
/** Timers and TCP wait meanwhile: 3 ms at 12 µs each. */
const MOST_A_TURN = 256;

/** @param fd of a socket that stays open while an answer is under way */
export const createBatches = (options: BatchesOptions, fd: number): Receive => {
  const { answer, tally, underWay, libc, onFailed } = options;
  const queries = createDatagramBatch(BATCH, LONGEST_QUERY_OCTETS, libc.addressOf);
  /** And the one that woke us. */
  const answers = createDatagramBatch(BATCH + 1, UDP_PAYLOAD_OCTETS, libc.addressOf);
  const peers = createPeerTexts();
  const firstName = Buffer.alloc(SOCKADDR_OCTETS);
  /** Answers that are written and not sent. */
  let ready = 0;
  let left = MOST_A_TURN;
  let isTurnBegun = false;

  const turnOver = (): void => {
    isTurnBegun = false;
    left = MOST_A_TURN;
  };
  const send = (): void => {
    let sent = 0;
    while (sent < ready) {
      const taken = libc.send(fd, answers.headerAt(sent), ready - sent);
      if (taken > 0) sent += taken;
      else {
        // The first of these is what the kernel would not take; those behind it may be for others.
        tally.sendFailed("udp");
        sent += 1;
      }
    }
    ready = 0;
  };
  const sendLater = async (pending: Promise<Uint8Array | null>, name: Uint8Array): Promise<void> => {
    underWay.begun();
    const octets = await pending;
    if (octets !== null) {
      answers.memory.set(name, answers.nameAt(0));
      answers.spaceOf(0).set(octets);
      answers.prepare(0, name.length, octets.length);
      ready = 1;
      send();
    }
    underWay.ended();
  };
  /** @param at where in `names` the peer's struct sockaddr begins, `length` long */
  const answerOne = (query: Buffer, address: string, names: Buffer, at: number, length: number): void => {
    const octets = answer(query, address, answers.spaceOf(ready));
    if (typeof octets !== "number") void sendLater(octets, Uint8Array.from(names.subarray(at, at + length)));
    else if (octets > 0) {
      names.copy(answers.memory, answers.nameAt(ready), at, at + length);
      answers.prepare(ready, length, octets);
      ready += 1;
    }
  };
  const answerReceived = (i: number): void => {
    const at = queries.nameAt(i);
    const length = queries.nameLength(i);
    const query = queries.received(i);
    // The kernel wrote what it had; the next call may write as much again.
    queries.prepare(i, SOCKADDR_OCTETS, LONGEST_QUERY_OCTETS);
    if (portOf(queries.memory, at) === 0) tally.dropped("port-zero");
    else answerOne(query, peers.textOf(queries.memory, at), queries.memory, at, length);
  };
  const answerFirst = (query: Buffer, peer: RemoteInfo): void => {
    const length = writeSocketAddress(firstName, peer, libc.scopeOf);
    answerOne(query, peer.address, firstName, 0, length);
  };
  /** @returns whether more may wait */
  const answerBatch = (): boolean => {
    const count = libc.receive(fd, queries.headerAt(0), Math.min(BATCH, left));
    if (count < 0) onFailed(count);
    for (let i = 0; i < count; i++) answerReceived(i);
    send();
    left -= Math.max(0, count);
    return count === BATCH;
  };

  return (message, peer) => {
    if (!isTurnBegun) {
      isTurnBegun = true;
      setImmediate(turnOver);
    }
    answerFirst(message, peer);
    if (left === 0) send();
    while (left > 0 && answerBatch());
  };
};
