/** `POST|GET <pool's path>/steer`: tells a client where its next turn goes, so that it asks the region itself. */
import type { IncomingMessage } from "node:http";
import type { Decision } from "#gtm/domain/decision.ts";
import type { RegionId } from "#shared/ids.ts";
import type { AnswerRules } from "./answer.ts";
import { apiFormOf } from "./api-error.ts";
import type { Arrival } from "./arrival.ts";
import type { Exchange } from "./exchange.ts";
import type { Identity } from "./identity.ts";
import { createPinOf } from "./pin.ts";
import { sendBroken, sendPlain } from "./plain-answers.ts";
import type { Ask, Question } from "./question.ts";
import { toHttpAnswer } from "./redirect.ts";
import { problemReply, type Reply, steeredReply } from "./reply.ts";
import { steerReply } from "./steer-reply.ts";
import { createSteerScan, type SteerWish, wishInBody, wishInQuery } from "./steer-wish.ts";

export type SteerRules = Pick<
  AnswerRules,
  "steer" | "world" | "clock" | "metrics" | "labels" | "offersLabels" | "zoneName"
> & {
  readonly ask: Ask;
  readonly countIdentity: (identity: Identity) => void;
};

export type SteerEndpoint = (incoming: IncomingMessage, exchange: Exchange, arrival: Arrival) => Promise<void>;

const METHOD_NOT_ALLOWED: Reply = (() => {
  const reply = problemReply("method-not-allowed", "Ask with POST and a JSON object, or with GET and a query.");
  return { ...reply, headers: { ...reply.headers, Allow: "GET, HEAD, POST" } };
})();

export const createSteerEndpoint = (rules: SteerRules): SteerEndpoint => {
  const { steer, world, clock, ask } = rules;
  const pinOf = createPinOf(rules);
  const originOf = (id: RegionId): string => {
    const region = world().regions.find((one) => one.id === id);
    if (region === undefined) throw new Error(`region ${id} was decided for and is not in the world`);
    return region.endpoint.url;
  };

  const answerTo = async (question: Question, incoming: IncomingMessage, arrival: Arrival): Promise<Reply> => {
    switch (question.kind) {
      case "unread":
        throw new Error("the question was read, and its body was asked for again");
      case "no-model":
        return problemReply("no-model", "Name a model.");
      case "unknown-model":
        return problemReply("unknown-model", "No pool of this host serves the model that was asked for.");
      case "asked":
        return answerAsked(question, incoming, arrival);
    }
  };

  const answerAsked = async (
    { query, identity, prefix }: Question & { kind: "asked" },
    incoming: IncomingMessage,
    arrival: Arrival,
  ): Promise<Reply> => {
    rules.countIdentity(identity);
    const kept: { decision: Decision | null } = { decision: null };
    const answer = await steer(query, (decision) => {
      kept.decision = decision;
      return toHttpAnswer(decision, originOf);
    });
    const pin = pinOf(query, answer, prefix, clock.epochMs());
    const tookMs = clock.monotonicMs() - query.receivedAtMs;
    if (answer.status === 307 && kept.decision !== null) {
      return steerReply({ answer, decision: kept.decision, prefix, pin, tookMs });
    }
    const { pathAndQuery } = arrival.target;
    return steeredReply({ answer, decisionId: query.id, pathAndQuery, form: apiFormOf(incoming.headers), tookMs, pin });
  };

  const answerWish = async (wish: SteerWish, incoming: IncomingMessage, arrival: Arrival): Promise<Reply> =>
    answerTo(await ask(incoming, arrival, NOTHING_SENT, wish), incoming, arrival);

  return async (incoming, exchange, arrival) => {
    const { method } = incoming;
    if (method !== "POST" && method !== "GET" && method !== "HEAD") return sendPlain(exchange, METHOD_NOT_ALLOWED);
    const scan = method === "POST" ? createSteerScan() : null;
    const end = await exchange.drain(
      scan === null
        ? null
        : (chunk) => {
            scan.write(chunk);
            return undefined;
          },
    );
    if (end.kind !== "ended") return sendBroken(exchange, end);
    const reading = scan === null ? wishInQuery(arrival.target.query) : wishInBody(scan.scanned());
    const reply =
      "fault" in reading
        ? problemReply("malformed-request", reading.fault)
        : await answerWish(reading.wish, incoming, arrival);
    return exchange.send(reply);
  };
};

/** The question's own octets are no prompt. */
const NOTHING_SENT = { isRead: true, bytes: 0, scanned: null };
