/** What is done with the datagrams of a socket, however many come at a time. */
import type { RemoteInfo } from "node:dgram";
import type { AnswerStep } from "./answer.ts";
import type { Tally } from "./tally.ts";

/** Takes a datagram that Node hands over, and those behind it where it can; its peer's port is not 0. */
export type Receive = (message: Buffer, peer: RemoteInfo) => void;

export type ReceiveOptions = {
  readonly answer: AnswerStep;
  readonly tally: Tally;
  /** The socket is not closed while answers are. */
  readonly underWay: { readonly begun: () => void; readonly ended: () => void };
};
