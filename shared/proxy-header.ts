/** Takes the PROXY header off a connection before anything else reads of it. */
import type { Socket } from "node:net";
import { readProxyHeader } from "./proxy-protocol.ts";

export type ProxyHeaderRules = {
  /** A balancer that says nothing for so long is cut. */
  readonly deadlineMs: number;
  /** @param client its address; null: the balancer's own connection */
  readonly onRead: (socket: Socket, client: string | null) => void;
  /** Why the connection was cut: "late", "gone", or what is wrong with the header. */
  readonly onRefused: (why: string) => void;
};

/** Calls `onRead` once, with what follows the header still to be read, or cuts the connection. */
export const takeProxyHeader = (socket: Socket, { deadlineMs, onRead, onRefused }: ProxyHeaderRules): void => {
  let head: Buffer = Buffer.alloc(0);
  const refuse = (why: string): void => {
    done();
    socket.destroy();
    onRefused(why);
  };
  const onGone = (): void => refuse("gone");
  const onReadable = (): void => {
    const more: Buffer | null = socket.read();
    if (more === null) return;
    head = head.length === 0 ? more : Buffer.concat([head, more]);
    const reading = readProxyHeader(head);
    if (reading.kind === "malformed") refuse(reading.why);
    if (reading.kind !== "read") return;
    done();
    if (head.length > reading.octets) socket.unshift(head.subarray(reading.octets));
    onRead(socket, reading.client?.address ?? null);
  };
  const timer = setTimeout(() => refuse("late"), deadlineMs);
  const done = (): void => {
    clearTimeout(timer);
    socket.off("readable", onReadable);
    socket.off("end", onGone);
    socket.off("error", onGone);
    socket.off("close", onGone);
  };
  socket.on("readable", onReadable);
  socket.on("end", onGone);
  socket.on("error", onGone);
  socket.on("close", onGone);
};
