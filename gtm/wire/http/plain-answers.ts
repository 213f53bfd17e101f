/** Answers that no steering is needed for: what is malformed, what is refused, what pages ask before they ask. */
import type { IncomingMessage } from "node:http";
import type { BodyEnd } from "./body.ts";
import { preflightHeaders } from "./cors.ts";
import type { Exchange } from "./exchange.ts";
import { problemReply, type Reply } from "./reply.ts";

/** What no body can change is still said after it, unless the client holds it back. */
export const sendPlain = async (exchange: Exchange, reply: Reply): Promise<void> => {
  if (exchange.isHeldBack) return exchange.sendAndClose(reply);
  const end = await exchange.drain(null);
  return end.kind === "ended" ? exchange.send(reply) : sendBroken(exchange, end);
};

/** For a body that did not end well. */
export const sendBroken = (exchange: Exchange, end: Exclude<BodyEnd, { kind: "ended" }>): void => {
  if (end.kind === "aborted") exchange.abandon();
  else exchange.sendAndClose(BROKEN[end.kind]);
};

const BROKEN = {
  "too-large": problemReply("body-too-large", "The body is larger than the front door reads."),
  "too-slow": problemReply("body-too-slow", "The body did not end in time."),
} as const satisfies Record<string, Reply>;

export const preflightReply = ({ headers }: IncomingMessage): Reply => ({
  status: 204,
  headers: preflightHeaders(headers),
  body: null,
});
