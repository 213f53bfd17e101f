/** The manners of HTTP/1.1 around a request: when its body is read, and how an answer ends a connection. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type BodyEnd, drainBody, isAnnouncedTooLarge, type OnChunk } from "./body.ts";
import { exposedHeaders } from "./cors.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Limits } from "./limits.ts";
import type { Reply } from "./reply.ts";

export type Exchange = {
  /** Whether the client holds its body back until it is asked for (RFC 9110 §10.1.1). */
  readonly isHeldBack: boolean;
  /** Asks for a body that is held back; once, however often it is called. */
  readonly askForBody: () => void;
  /** Asks for a body that is held back, and reads it to its end. @param onChunk null: nobody looks at it */
  readonly drain: (onChunk: OnChunk) => Promise<BodyEnd> | BodyEnd;
  /**
   * The answer after the body's end; closes the connection while the front door stops. Written once whatever else came in this
   * turn of the loop has its answer's head, too: system calls in between cost 6 % of a redirect's processor time (see loop-turn).
   */
  readonly send: (reply: Reply) => Promise<void>;
  /**
   * The answer before the body's end. Nobody knows whether the rest will come, so the connection ends; what does come is
   * thrown away for a while, or the client would see a reset instead of the answer.
   */
  readonly sendAndClose: (reply: Reply) => void;
  /** The client is gone: no answer. */
  readonly abandon: () => void;
};

export type ExchangeRules = {
  readonly limits: Pick<Limits, "bodyBytes" | "bodyMs" | "lingerMs">;
  readonly metrics: HttpMetrics;
  /** Whether the connection ends with the answer that is about to be sent. */
  readonly isLast: (incoming: IncomingMessage) => boolean;
};

export const exchangeOf = (incoming: IncomingMessage, outgoing: ServerResponse, rules: ExchangeRules): Exchange => {
  const { limits, metrics, isLast } = rules;
  const isHeldBack = incoming.headers.expect !== undefined && incoming.httpVersionMinor > 0;

  let isAsked = false;
  const askForBody = (): void => {
    if (isHeldBack && !isAsked) outgoing.writeContinue();
    isAsked = true;
  };

  const abandon = (): void => metrics.aborts.inc();

  /** @returns whether there is anybody to answer */
  const writeHead = (reply: Reply, bytes: number | null, isClosing: boolean): boolean => {
    if (outgoing.destroyed || !incoming.socket.writable) {
      abandon();
      return false;
    }
    metrics.answers.inc({ status: `${reply.status}` });
    // Names and values in one list, which Node takes as it is.
    const fields: string[] = [];
    const exposed = exposedHeaders(incoming.headers);
    addTo(fields, exposed === null ? reply.headers : { ...reply.headers, ...exposed });
    if (bytes !== null) fields.push("Content-Length", `${bytes}`);
    if (isClosing) fields.push("Connection", "close");
    outgoing.writeHead(reply.status, fields);
    return true;
  };

  return {
    isHeldBack,
    askForBody,
    drain: (onChunk) => {
      if (!isAnnouncedTooLarge(incoming, limits)) askForBody();
      return drainBody(incoming, limits, onChunk);
    },
    send: async (reply) => {
      const { body } = reply;
      const bytes = body === null ? null : Buffer.byteLength(body);
      if (!writeHead(reply, bytes, isLast(incoming))) return;
      await null;
      if (!outgoing.destroyed) outgoing.end(body);
    },
    sendAndClose: (reply) => {
      const body = Buffer.from(reply.body ?? "");
      if (!writeHead(reply, body.length, true)) return;
      outgoing.flushHeaders();
      outgoing.write(body);
      endWhenRead(incoming, outgoing, limits.lingerMs);
    },
    abandon,
  };
};

const addTo = (fields: string[], headers: Reply["headers"]): void => {
  for (const name in headers) fields.push(name, headers[name] ?? "");
};

/** Ends the answer when the request ends, or when there has been time enough to read it. */
const endWhenRead = (incoming: IncomingMessage, outgoing: ServerResponse, lingerMs: number): void => {
  const end = (): void => {
    clearTimeout(timer);
    if (!outgoing.writableEnded) outgoing.end();
  };
  const timer = setTimeout(end, lingerMs);
  outgoing.on("close", () => clearTimeout(timer));
  incoming.on("end", end).on("close", end).on("error", end).resume();
};
