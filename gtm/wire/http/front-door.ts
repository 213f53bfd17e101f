/**
 * What happens to a request: it arrives at a pool; its body passes by; it becomes a question; steering decides; the answer
 * names the region.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AnswerRules, createAnswer } from "./answer.ts";
import { type Arrival, type ArrivalRules, createArrive } from "./arrival.ts";
import { announcedBytes, type BodyEnd, hasBody } from "./body.ts";
import { type BodyScan, createBodyScan } from "./body-scan.ts";
import { isPreflight, preflightHeaders } from "./cors.ts";
import { type Exchange, type ExchangeRules, exchangeOf } from "./exchange.ts";
import { IDENTITY_MEMBERS } from "./identity-source.ts";
import { createLoopTurn } from "./loop-turn.ts";
import { memberNames } from "./member-paths.ts";
import { isScannable, PROMPT_MEMBERS } from "./prompt.ts";
import { type AskRules, createAsk, MODEL_MEMBER } from "./question.ts";
import { problemReply, type Reply } from "./reply.ts";

export type FrontDoorRules = ArrivalRules & AskRules & AnswerRules & ExchangeRules;

export type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<Response>;

const WANTED = memberNames([MODEL_MEMBER, ...IDENTITY_MEMBERS, ...PROMPT_MEMBERS]);

export const createHandle = (rules: FrontDoorRules): Handle => {
  const arrive = createArrive(rules);
  const ask = createAsk(rules);
  const answer = createAnswer(rules);
  const loopTurn = createLoopTurn();

  const scanFor = (incoming: IncomingMessage): BodyScan | null => {
    if (!hasBody(incoming)) return null;
    if (isScannable(incoming.headers)) return createBodyScan(WANTED);
    rules.metrics.unscanned.inc();
    return null;
  };

  const afterBody = async (incoming: IncomingMessage, arrival: Arrival, exchange: Exchange): Promise<Response> => {
    const scan = scanFor(incoming);
    const end = await exchange.drain(scan === null ? null : scan.write);
    if (end.kind !== "ended") return sendBroken(exchange, end);
    rules.metrics.bodyBytes.inc({}, end.bytes);
    const question = ask(incoming, arrival, { isRead: true, bytes: end.bytes, scanned: scan?.scanned() ?? null });
    if (question.kind === "unread") throw new Error("the body was read, and was asked for again");
    return exchange.send(await answer(question, arrival, incoming));
  };

  /** A client that holds its body back need not send it where the headers say enough. */
  const beforeBody = async (incoming: IncomingMessage, arrival: Arrival, exchange: Exchange): Promise<Response> => {
    const bytes = announcedBytes(incoming) ?? 0;
    const question = ask(incoming, arrival, { isRead: false, bytes, scanned: null });
    if (question.kind === "unread") return afterBody(incoming, arrival, exchange);
    return exchange.sendAndClose(await answer(question, arrival, incoming));
  };

  return async (incoming, outgoing) => {
    await loopTurn();
    const exchange = exchangeOf(incoming, outgoing, rules);
    const arrival = arrive(incoming);
    if (arrival.kind === "refused") return sendPlain(exchange, problemReply(arrival.code, arrival.detail));
    if (isPreflight(incoming.method, incoming.headers)) return sendPlain(exchange, preflightReply(incoming));
    return await (exchange.isHeldBack ? beforeBody : afterBody)(incoming, arrival, exchange);
  };
};

/** What no body can change is still said after it, unless the client holds it back. */
const sendPlain = async (exchange: Exchange, reply: Reply): Promise<Response> => {
  if (exchange.isHeldBack) return exchange.sendAndClose(reply);
  const end = await exchange.drain(null);
  return end.kind === "ended" ? exchange.send(reply) : sendBroken(exchange, end);
};

const sendBroken = (exchange: Exchange, end: Exclude<BodyEnd, { kind: "ended" }>): Response => {
  switch (end.kind) {
    case "too-large":
      return exchange.sendAndClose(problemReply("body-too-large", "The body is larger than the front door reads."));
    case "too-slow":
      return exchange.sendAndClose(problemReply("body-too-slow", "The body did not end in time."));
    case "aborted":
      return exchange.abandon();
  }
};

const preflightReply = ({ headers }: IncomingMessage): Reply => ({
  status: 204,
  headers: preflightHeaders(headers),
  body: null,
});
