/** The manners of HTTP/1.1 around a request: when its body is read, and how an answer ends a connection. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
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
  /** The answer after the body's end; closes the connection while the front door stops. */
  readonly send: (reply: Reply) => Response;
  /**
   * The answer before the body's end. Nobody knows whether the rest will come, so the connection ends; what does come is
   * thrown away for a while, or the client would see a reset instead of the answer.
   */
  readonly sendAndClose: (reply: Reply) => Response;
  /** The client is gone: no answer. */
  readonly abandon: () => Response;
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

  const abandon = (): Response => {
    metrics.aborts.inc();
    return RESPONSE_ALREADY_SENT;
  };

  const respond = (reply: Reply, body: string | ReadableStream | null, headers: Reply["headers"] | null): Response => {
    if (outgoing.destroyed || !incoming.socket.writable) return abandon();
    metrics.answers.inc({ status: `${reply.status}` });
    const exposed = exposedHeaders(incoming.headers);
    const all = exposed === null && headers === null ? reply.headers : { ...reply.headers, ...exposed, ...headers };
    return new Response(body, { status: reply.status, headers: all });
  };

  return {
    isHeldBack,
    askForBody,
    drain: (onChunk) => {
      if (!isAnnouncedTooLarge(incoming, limits)) askForBody();
      return drainBody(incoming, limits, onChunk);
    },
    send: (reply) => respond(reply, reply.body, isLast(incoming) ? CLOSE : null),
    sendAndClose: (reply) => {
      const body = Buffer.from(reply.body ?? "");
      const headers = { ...CLOSE, "Content-Length": `${body.length}` };
      return respond(reply, lingering(body, incoming, limits.lingerMs), headers);
    },
    abandon,
  };
};

const CLOSE: Reply["headers"] = { Connection: "close" };

/** A body that is all there at once, and ends when the request does, or when there has been time enough to read it. */
const lingering = (body: Uint8Array, incoming: IncomingMessage, lingerMs: number): ReadableStream => {
  let end = (): void => {};
  return new ReadableStream({
    start: (controller) => {
      const timer = setTimeout(() => end(), lingerMs);
      end = () => {
        clearTimeout(timer);
        end = () => {};
        controller.close();
      };
      controller.enqueue(body);
      const onOver = (): void => end();
      incoming.on("end", onOver).on("close", onOver).on("error", onOver).resume();
    },
    cancel: () => {
      end = () => {};
    },
  });
};
