/** Connections that send no HTTP, too much of it, or too slowly: told so once, and ended. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Connections } from "./connections.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { PROBLEM_TYPE } from "./problem.ts";

/** Node's and its parser's codes that have a better status than 400. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
/** The client ended its side in the middle of a request. */
const UNFINISHED = "HPE_INVALID_EOF_STATE";
/** Of the connection, not of what was sent on it. */
const GONE = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ETIMEDOUT"]);

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
    socket.end(textOf(status));
    // Closing at once with octets unread would reset the connection, and the client might never see the answer.
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
    socket.resume();
  };

  const answer = (code: string, socket: Duplex): void => {
    const standing = connections.standingOf(socket);
    // After an early answer the client need not send what it held back: that is no error.
    if (standing !== "answered" || code !== UNFINISHED) metrics.clientErrors.inc({ code });
    const status = STATUS_BY_CODE[code] ?? 400;
    if (standing === "answered") socket.destroy();
    else if (standing === "due") connections.onceAnswered(socket, () => tell(socket, status));
    else tell(socket, status);
  };

  return (error: Error, socket: Duplex): void => {
    // The parser complains about each further chunk of the same mess.
    if (broken.has(socket)) return;
    broken.add(socket);
    const code = codeOf(error);
    if (GONE.has(code) || !socket.writable) socket.destroy();
    else answer(code, socket);
  };
};

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "unknown");

const textOf = (status: number): string => {
  const title = STATUS_CODES[status] ?? "Bad Request";
  const code = "malformed-request";
  const body = JSON.stringify({ type: `urn:problem-type:llm-gtm:${code}`, title, status, code });
  return [
    `HTTP/1.1 ${status} ${title}`,
    "Connection: close",
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
};
