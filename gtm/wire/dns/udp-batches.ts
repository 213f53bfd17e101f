/**
 * Datagrams answered several at a time: whoever was woken by the first of them drains the socket of the others, answers them, and
 * sends the answers together. Half of what a query costs otherwise is Node's way in and out (gtm/adr/0006).
 */
import type { AnswerStep } from "./answer.ts";
import { createDatagramBatch } from "./datagram-batch.ts";
import { UDP_PAYLOAD_OCTETS } from "./edns.ts";
import type { Libc } from "./libc.ts";
import { createPeerTexts } from "./peer-texts.ts";
import { portOf, SOCKADDR_OCTETS } from "./socket-address.ts";
import type { Tally } from "./tally.ts";

/** Answers the datagrams that wait at a socket, as many as one turn of the event loop may take. */
export type Drain = (fd: number) => void;

export type DrainOptions = {
  readonly answer: AnswerStep;
  readonly tally: Tally;
  readonly libc: Libc;
  /** An answer that comes later; the socket stays open until it was sent, or is null. */
  readonly onLater: (pending: Promise<Uint8Array | null>, send: (octets: Uint8Array) => void) => void;
  /** Nothing could be received, by the -errno of it. */
  readonly onFailed: (error: number) => void;
};

/** A datagram of UDP over IPv4 or IPv6 is never longer. */
const LONGEST_QUERY_OCTETS = 65_535;
const BATCH = 32;
/** Timers and TCP wait meanwhile: 3 ms at 12 µs each. */
const MOST_A_TURN = 256;

export const createDrain = ({ answer, tally, libc, onLater, onFailed }: DrainOptions): Drain => {
  const queries = createDatagramBatch(BATCH, LONGEST_QUERY_OCTETS, libc.addressOf);
  const answers = createDatagramBatch(BATCH, UDP_PAYLOAD_OCTETS, libc.addressOf);
  const peers = createPeerTexts();
  let left = MOST_A_TURN;
  let isTurnBegun = false;

  const turnOver = (): void => {
    isTurnBegun = false;
    left = MOST_A_TURN;
  };
  const sendOne = (fd: number, name: Uint8Array, octets: Uint8Array): void => {
    answers.memory.set(name, answers.nameAt(0));
    answers.spaceOf(0).set(octets);
    answers.prepare(0, name.length, octets.length);
    sendAll(fd, 1);
  };
  /** @returns how many answers there are now */
  const answerOne = (fd: number, i: number, ready: number): number => {
    const nameAt = queries.nameAt(i);
    const nameOctets = queries.nameLength(i);
    const query = queries.received(i);
    // The kernel wrote what it had; the next call may write as much again.
    queries.prepare(i, SOCKADDR_OCTETS, LONGEST_QUERY_OCTETS);
    if (portOf(queries.memory, nameAt) === 0) {
      tally.dropped("port-zero");
      return ready;
    }
    const address = peers.textOf(queries.memory, nameAt);
    const length = answer(query, address, answers.spaceOf(ready));
    if (typeof length !== "number") {
      const name = Uint8Array.from(queries.memory.subarray(nameAt, nameAt + nameOctets));
      onLater(length, (octets) => sendOne(fd, name, octets));
      return ready;
    }
    if (length === 0) return ready;
    queries.memory.copy(answers.memory, answers.nameAt(ready), nameAt, nameAt + nameOctets);
    answers.prepare(ready, nameOctets, length);
    return ready + 1;
  };
  const sendAll = (fd: number, ready: number): void => {
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
  };

  /** @returns whether more may wait */
  const answerBatch = (fd: number): boolean => {
    const count = libc.receive(fd, queries.headerAt(0), Math.min(BATCH, left));
    if (count < 0) onFailed(count);
    let ready = 0;
    for (let i = 0; i < count; i++) ready = answerOne(fd, i, ready);
    sendAll(fd, ready);
    left -= Math.max(0, count);
    return count === BATCH;
  };

  return (fd) => {
    if (!isTurnBegun) {
      isTurnBegun = true;
      setImmediate(turnOver);
    }
    while (left > 0 && answerBatch(fd));
  };
};
