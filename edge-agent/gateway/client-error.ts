/** Connections that send no HTTP, too much of it, or too slowly: told so once, and ended. */
import type { Duplex } from "node:stream";
import { clientErrorCode, clientErrorStatus, endWithProblem, isConnectionGone } from "#shared/client-error.ts";
import type { Counter } from "#shared/metrics.ts";

const LINGER_MS = 2_000;

/** @param isAnswering whether an answer is under way on this connection: it would be torn */
export const createClientErrors = (counted: Counter, isAnswering: (socket: Duplex) => boolean) => {
  const broken = new WeakSet<Duplex>();
  return (error: Error, socket: Duplex): void => {
    // The parser complains about each further chunk of the same mess.
    if (broken.has(socket)) return;
    broken.add(socket);
    const code = clientErrorCode(error);
    counted.inc({ code });
    if (isConnectionGone(code, socket) || isAnswering(socket)) socket.destroy();
    else endWithProblem(socket, clientErrorStatus(code), LINGER_MS);
  };
};
