/** One connection over TCP: reads queries as long as the peer takes answers. */
import type { Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import { TCP_PAYLOAD_OCTETS } from "./answer.ts";
import { writeU16 } from "./dns-query.ts";
import { createFrames } from "./frames.ts";
import type { ListenerOptions } from "./udp-listener.ts";

export type Connection = {
  /** Whose share of connections it counts towards. */
  readonly peer: string;
  /** Of the last whole query; of the beginning, before the first. */
  readonly lastQueryAtMs: () => number;
  /** Takes no further query, sends what is under way, closes. */
  readonly finish: () => void;
  readonly destroy: () => void;
};

export type ConnectionOptions = ListenerOptions & {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly peer: string;
  /** Shared by all connections: room for the length and the longest answer. */
  readonly scratch: Buffer;
  readonly onQuery: () => void;
  readonly onClosed: () => void;
};

export const createConnection = (socket: Socket, options: ConnectionOptions): Connection => {
  const { answer, tally, limits, clock, peer, scratch, onQuery, onClosed } = options;
  const frames = createFrames(limits.tcpQueryOctets);
  const address = socket.remoteAddress ?? "";
  const room = scratch.subarray(2, 2 + TCP_PAYLOAD_OCTETS);
  let lastQueryAtMs = clock.monotonicMs();
  let pending = 0;
  let isFinishing = false;
  /** The peer sends no more; what it sent is still to be answered. */
  let hasEnded = false;

  const sent = (error?: Error | null): void => {
    if (error !== undefined && error !== null) tally.sendFailed("tcp");
  };
  const finish = (): void => {
    isFinishing = true;
    if (pending === 0) socket.end();
  };
  const refuse = (reason: string): void => {
    tally.tcpClosed(reason);
    isFinishing = true;
    socket.destroySoon();
  };
  const write = (octets: Uint8Array): void => {
    const framed = Buffer.allocUnsafe(2 + octets.length);
    writeU16(framed, 0, octets.length);
    framed.set(octets, 2);
    socket.write(framed, sent);
  };
  const writeLater = async (coming: Promise<Uint8Array | null>): Promise<void> => {
    pending += 1;
    const octets = await coming;
    pending -= 1;
    if (octets !== null && !socket.destroyed) write(octets);
    if (isFinishing) finish();
    else readOn();
  };
  const take = (query: Uint8Array): void => {
    lastQueryAtMs = clock.monotonicMs();
    onQuery();
    const length = answer(query, address, room);
    if (typeof length !== "number") void writeLater(length);
    else if (length > 0) write(room.subarray(0, length));
  };
  /** The peer's turn to take what was answered; until then it is not read from. */
  const isFull = (): boolean => socket.writableNeedDrain || pending >= limits.tcpPendingAnswers;

  /** @returns false: there is none, or the connection is over */
  const takeNext = (): boolean => {
    const frame = frames.next();
    if (frame === "incomplete") {
      if (hasEnded) finish();
      return false;
    }
    if (frame === "empty" || frame === "too-long") refuse(frame);
    else take(frame);
    return !isFinishing;
  };
  const readOn = (): void => {
    if (isFinishing) return;
    socket.cork();
    while (!isFull() && takeNext());
    socket.uncork();
    if (isFull()) socket.pause();
    else socket.resume();
  };

  socket.on("data", (chunk) => {
    if (isFinishing) return;
    frames.push(chunk);
    readOn();
  });
  socket.on("drain", readOn);
  socket.on("end", () => {
    hasEnded = true;
    readOn();
  });
  // A peer that goes away is no fault of ours; answers it did not take are counted where they are written.
  socket.on("error", () => {});
  socket.on("close", onClosed);

  return { peer, lastQueryAtMs: () => lastQueryAtMs, finish, destroy: () => socket.destroy() };
};
