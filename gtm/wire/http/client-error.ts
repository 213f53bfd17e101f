/** Connections that send no HTTP, too much of it, or too slowly: told so once, and ended. */
import type { Duplex } from "node:stream";
import { clientErrorCode, clientErrorStatus, endWithProblem, isConnectionGone } from "#shared/client-error.ts";
import type { Connections } from "./connections.ts";
import type { HttpMetrics } from "./http-metrics.ts";

/** The client ended its side in the middle of a request. */
const UNFINISHED = "HPE_INVALID_EOF_STATE";

export type ClientErrorRules = {
  readonly metrics: HttpMetrics;
  readonly lingerMs: number;
  readonly connections: Pick<Connections, "standingOf" | "onceAnswered">;
};

/** The listener of a server's "clientError". */
export const createClientErrors = ({ metrics, lingerMs, connections }: ClientErrorRules) => {
  const broken = new WeakSet<Duplex>();

  const tell = (socket: Duplex, status: number): void => {
    if (!socket.writable) return;
    metrics.answers.inc({ status: `${status}` });
    endWithProblem(socket, status, lingerMs);
  };

  const answer = (code: string, socket: Duplex): void => {
    const standing = connections.standingOf(socket);
    // After an early answer the client need not send what it held back: that is no error.
    if (standing !== "answered" || code !== UNFINISHED) metrics.clientErrors.inc({ code });
    const status = clientErrorStatus(code);
    if (standing === "answered") socket.destroy();
    else if (standing === "due") connections.onceAnswered(socket, () => tell(socket, status));
    else tell(socket, status);
  };

  return (error: Error, socket: Duplex): void => {
    // The parser complains about each further chunk of the same mess.
    if (broken.has(socket)) return;
    broken.add(socket);
    const code = clientErrorCode(error);
    if (isConnectionGone(code, socket)) socket.destroy();
    else answer(code, socket);
  };
};
