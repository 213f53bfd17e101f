/**
 * What happens to a request: it arrives at a pool; its body passes by, or is held back where it may have to be forwarded; it
 * becomes a question; steering decides; the answer names the region, or the region itself answers.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answered, type AnswerRules, createAnswer, createCountIdentity } from "./answer.ts";
import { type ArrivalRules, createArrive } from "./arrival.ts";
import { announcedBytes } from "./body.ts";
import { createReaderFor } from "./body-reader.ts";
import { isPreflight } from "./cors.ts";
import { createCredentialsIn } from "./credentials.ts";
import { type Exchange, type ExchangeRules, exchangeOf } from "./exchange.ts";
import type { Forward } from "./forward.ts";
import { isLoop } from "./forward-headers.ts";
import type { Asking } from "./hand-over.ts";
import { type HeldBody, holdBody } from "./held-body.ts";
import type { Limits } from "./limits.ts";
import { createLoopTurn } from "./loop-turn.ts";
import { preflightReply, sendBroken, sendPlain } from "./plain-answers.ts";
import type { SeenBody } from "./prompt.ts";
import { type AskRules, createAsk, isModelNamed } from "./question.ts";
import type { BodyReader } from "./read-body.ts";
import { problemReply } from "./reply.ts";
import { createSteerEndpoint } from "./steer-endpoint.ts";
import { isSteering } from "./steer-wish.ts";
import { createWays } from "./way.ts";

export type FrontDoorRules = ArrivalRules &
  AskRules &
  AnswerRules &
  ExchangeRules & {
    readonly limits: Pick<Limits, "heldBytes" | "heldMs">;
    readonly forward: Forward;
    /** Headers that tickets carry beside the usual ones; in lower case. */
    readonly ticketHeaders: readonly string[];
  };

export type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

type Request = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly exchange: Exchange;
  readonly asking: Asking;
};

/** Of a body that is held back: the model may still be behind it, the conversation hardly is. */
const USUALLY_ENOUGH_OCTETS = 65_536;

export const createHandle = (rules: FrontDoorRules): Handle => {
  const { limits, metrics } = rules;
  const arrive = createArrive(rules);
  const ask = createAsk(rules);
  const answer = createAnswer(rules);
  const ways = createWays(rules.gateways);
  const credentialsIn = createCredentialsIn(rules.ticketHeaders);
  const loopTurn = createLoopTurn();

  const readerFor = createReaderFor(rules);
  const steerEndpoint = createSteerEndpoint({ ...rules, ask, countIdentity: createCountIdentity(metrics) });

  /** Of a request that is redirected whatever is decided. */
  const afterBody = async ({ incoming, exchange, asking }: Request): Promise<void> => {
    const reader = readerFor(incoming, asking.arrival);
    const end = await exchange.drain(reader?.write ?? null);
    if (end.kind !== "ended") {
      void reader?.end(false);
      return sendBroken(exchange, end);
    }
    metrics.bodyBytes.inc({}, end.bytes);
    const seen = await seenBy(reader, end.bytes);
    const question = await ask(incoming, asking.arrival, seen);
    if (question.kind === "unread") throw new Error("the body was read, and was asked for again");
    return exchange.send(replyOf(await answer(question, asking)));
  };

  /** A client that holds its body back need not send it where the headers say enough. */
  const beforeBody = async (request: Request): Promise<void> => {
    const { incoming, exchange, asking } = request;
    const bytes = announcedBytes(incoming) ?? 0;
    const question = await ask(incoming, asking.arrival, { isRead: false, bytes, scanned: null });
    if (question.kind === "unread") return afterBody(request);
    return exchange.sendAndClose(replyOf(await answer(question, asking)));
  };

  /** Of a request that may have to be forwarded: as little of it is held back as the decision needs. */
  const whileHeld = async (request: Request): Promise<void> => {
    const { incoming, exchange, asking } = request;
    const announced = announcedBytes(incoming);
    const early = await ask(incoming, asking.arrival, { isRead: false, bytes: announced ?? 0, scanned: null });
    const reader = early.kind === "unread" ? readerFor(incoming, asking.arrival) : null;
    const body = await holdBody(incoming, {
      limits: rules.limits,
      onWanted: exchange.askForBody,
      onChunk: reader?.write ?? null,
      isEnough: (bytes) =>
        early.kind !== "unread" ||
        bytes >= limits.heldBytes ||
        (bytes >= USUALLY_ENOUGH_OCTETS && isEnoughRead(incoming, reader)),
    });
    if (body.kind !== "held") {
      void reader?.end(false);
      return sendBroken(exchange, body);
    }
    const seen = await seenBy(reader, announced ?? body.bytes, body.isWhole);
    const question = early.kind === "unread" ? await ask(incoming, asking.arrival, seen) : early;
    if (question.kind === "unread") throw new Error("the body was held, and was asked for again");
    return handOn(request, body, await answer(question, asking));
  };

  const handOn = async (request: Request, body: HeldBody, answered: Answered): Promise<void> => {
    const { incoming, outgoing, exchange } = request;
    if (answered.kind === "forward") {
      const { order } = answered;
      const onBroken = (end: Parameters<typeof sendBroken>[1]): void => sendBroken(exchange, end);
      const what = { incoming, outgoing, exchange, body, order, onBroken, peer: rules.peers.of(incoming.socket) };
      return rules.forward.send(what);
    }
    if (exchange.isHeldBack && body.canSend() && !body.isWhole) return exchange.sendAndClose(answered.reply);
    const end = await body.discard();
    if (end.kind !== "ended") return sendBroken(exchange, end);
    metrics.bodyBytes.inc({}, body.bytes + (body.isWhole ? 0 : end.bytes));
    return exchange.send(answered.reply);
  };

  return async (incoming, outgoing) => {
    await loopTurn();
    const exchange = exchangeOf(incoming, outgoing, rules);
    const arrival = arrive(incoming);
    if (arrival.kind === "refused") return sendPlain(exchange, problemReply(arrival.code, arrival.detail));
    if (isPreflight(incoming.method, incoming.headers)) return sendPlain(exchange, preflightReply(incoming));
    if (isSteering(arrival)) return steerEndpoint(incoming, exchange, arrival);
    const credentials = credentialsIn(incoming.headers);
    const { pathAndQuery } = arrival.target;
    const mayForward = ways.mayForward({ incoming, credentials, pathAndQuery }, arrival);
    const request = { incoming, outgoing, exchange, asking: { arrival, incoming, credentials, mayForward } };
    if (mayForward) {
      if (isLoop(incoming)) return sendPlain(exchange, problemReply("loop", "This request was forwarded here before."));
      return whileHeld(request);
    }
    return (exchange.isHeldBack ? beforeBody : afterBody)(request);
  };
};

const seenBy = async (reader: BodyReader | null, bytes: number, isWhole = true): Promise<SeenBody> => {
  const read = reader === null ? null : await reader.end(isWhole);
  return { isRead: true, bytes: read?.bytes ?? bytes, scanned: read?.scanned ?? null };
};

/** Of a body that is still coming: whether it says which model is asked, and how the chat opens, if that is needed. */
const isEnoughRead = ({ headers }: IncomingMessage, reader: BodyReader | null): boolean =>
  isModelNamed(headers, reader?.soFar() ?? null) && reader?.isOpened() !== false;

const replyOf = (answered: Answered): Extract<Answered, { kind: "reply" }>["reply"] => {
  if (answered.kind === "forward") throw new Error("a request whose body is gone is not forwarded");
  return answered.reply;
};
