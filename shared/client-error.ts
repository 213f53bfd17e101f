/** Connections that send no HTTP, too much of it, or too slowly: what is told them, before they are ended. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Node's and its parser's codes that have a better status than 400. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
/** Of the connection, not of what was sent on it. */
const GONE: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT"]);

/** What Node or its parser calls the error of "clientError". */
export const clientErrorCode = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : "unknown";

export const clientErrorStatus = (code: string): number => STATUS_BY_CODE[code] ?? 400;

/** Whether nobody is there to be told. */
export const isConnectionGone = (code: string, socket: Duplex): boolean => GONE.has(code) || !socket.writable;

/** Answers outside of any request, and ends the connection. @param lingerMs what is still being sent is read for so long */
export const endWithProblem = (socket: Duplex, status: number, lingerMs: number): void => {
  socket.end(answerText(status));
  // Closing at once with octets unread would reset the connection, and the client might never see the answer.
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
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
