/** Answers that no steering is needed for: what is malformed, what is refused, what pages ask before they ask. */
import type { IncomingMessage } from "node:http";
import type { BodyEnd } from "./body.ts";
import { preflightHeaders } from "./cors.ts";
import type { Exchange } from "./exchange.ts";
import { problemReply, type Reply } from "./reply.ts";

/** What no body can change is still said after it, unless the client holds it back. */
export const sendPlain = async (exchange: Exchange, reply: Reply): Promise<Response> => {
  if (exchange.isHeldBack) return exchange.sendAndClose(reply);
  const end = await exchange.drain(null);
  return end.kind === "ended" ? exchange.send(reply) : sendBroken(exchange, end);
};

/** For a body that did not end well. */
export const sendBroken = (exchange: Exchange, end: Exclude<BodyEnd, { kind: "ended" }>): Response => {
  switch (end.kind) {
    case "too-large":
      return exchange.sendAndClose(problemReply("body-too-large", "The body is larger than the front door reads."));
    case "too-slow":
      return exchange.sendAndClose(problemReply("body-too-slow", "The body did not end in time."));
    case "aborted":
      return exchange.abandon();
  }
};

export const preflightReply = ({ headers }: IncomingMessage): Reply => ({
  status: 204,
  headers: preflightHeaders(headers),
  body: null,
});
