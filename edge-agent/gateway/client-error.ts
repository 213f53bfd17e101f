/** Connections that send no HTTP, too much of it, or too slowly: told so once, and ended. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Counter } from "#shared/metrics.ts";

/** Node's and its parser's codes that have a better status than 400. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
/** Of the connection, not of what was sent on it. */
const GONE: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT"]);
const LINGER_MS = 2_000;

/** @param isAnswering whether an answer is under way on this connection: it would be torn */
export const createClientErrors = (counted: Counter, isAnswering: (socket: Duplex) => boolean) => {
  const broken = new WeakSet<Duplex>();
  return (error: Error, socket: Duplex): void => {
    // The parser complains about each further chunk of the same mess.
    if (broken.has(socket)) return;
    broken.add(socket);
    const code = "code" in error && typeof error.code === "string" ? error.code : "unknown";
    counted.inc({ code });
    if (GONE.has(code) || !socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    socket.end(answerText(STATUS_BY_CODE[code] ?? 400));
    // Closing at once with octets unread would reset the connection, and the client might never see the answer.
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
    socket.resume();
  };
};

const answerText = (status: number): string => {
  const title = STATUS_CODES[status] ?? "Bad Request";
  const code = "malformed-request";
  const body = JSON.stringify({ type: `urn:problem-type:llm-gtm:${code}`, title, status, code });
  return [
    `HTTP/1.1 ${status} ${title}`,
    "Connection: close",
    "Content-Type: application/problem+json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
};
