/** Puts a question to steering and makes what comes of it: a reply, or an order to forward. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Steer } from "#gtm/steering/steer.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { apiFormOf } from "./api-error.ts";
import type { ForwardOrder } from "./forward-order.ts";
import { type Asking, createHandOver, type HandOverRules, type Steered } from "./hand-over.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Identity } from "./identity.ts";
import { createPinOf, type PinRules } from "./pin.ts";
import type { Question } from "./question.ts";
import { type HttpAnswer, toHttpAnswer } from "./redirect.ts";
import { type Pin, problemReply, type Reply, steeredReply, unknownModelReply } from "./reply.ts";
import { createWays } from "./way.ts";

/** A question that was answerable. */
export type Readable = Exclude<Question, { kind: "unread" }>;

export type Answered =
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "forward"; readonly order: ForwardOrder };

export type Answer = (question: Readable, asking: Asking) => Promise<Answered>;

export type AnswerRules = PinRules &
  Pick<HandOverRules, "gateways" | "ticketSealer"> & {
    readonly steer: Steer;
    readonly world: () => World;
    readonly clock: Clock;
    readonly metrics: HttpMetrics;
  };

type Asked = Extract<Question, { kind: "asked" }>;

export const createAnswer = (rules: AnswerRules): Answer => {
  const { steer, world, clock, metrics, gateways } = rules;
  const ways = createWays(gateways);

  const originOf = (id: RegionId): string => {
    const region = world().regions.find((one) => one.id === id);
    if (region === undefined) throw new Error(`region ${id} was decided for and is not in the world`);
    return region.endpoint.url;
  };
  const pinOf = createPinOf(rules);
  const handOver = createHandOver({ ...rules, originOf, pinOf });
  const count = createCountIdentity(metrics);

  const replyTo = ({ query }: Asked, asking: Asking, answer: HttpAnswer, pin: Pin | null, target: string): Answered =>
    replied(
      steeredReply({
        answer,
        decisionId: query.id,
        pathAndQuery: target,
        form: apiFormOf(asking.incoming.headers),
        tookMs: clock.monotonicMs() - query.receivedAtMs,
        pin,
      }),
    );

  const send = async (steered: Steered, asking: Asking): Promise<Answered> => {
    const { asked, answer, pin } = steered;
    const { incoming, credentials, mayForward, arrival } = asking;
    const chosen = { pool: asked.query.pool, region: answer.region, isOfConversation: pin !== null };
    const said = { incoming, credentials, pathAndQuery: arrival.target.pathAndQuery };
    const way = ways.wayOf(said, chosen, mayForward);
    const target = way === "forward" ? null : await handOver.target(way, steered, asking);
    metrics.ways.inc({ way: target === null ? "forward" : way });
    return target === null
      ? { kind: "forward", order: handOver.order(steered, asking) }
      : replyTo(asked, asking, answer, pin, target);
  };

  return async (question, asking) => {
    switch (question.kind) {
      case "unknown-model":
        return replied(unknownModelReply(apiFormOf(asking.incoming.headers), question.model));
      case "no-model":
        return replied(problemReply("no-model", "Name a model: in the body, or in the header X-GTM-Model."));
      case "asked": {
        const { query, identity, prefix } = question;
        count(identity);
        const kept: { decision: Decision | null } = { decision: null };
        const answer = await steer(query, (decision) => {
          kept.decision = decision;
          return toHttpAnswer(decision, originOf);
        });
        const pin = pinOf(query, answer, prefix, clock.epochMs());
        return answer.status === 307 && kept.decision !== null
          ? send({ asked: question, answer, decision: kept.decision, pin }, asking)
          : replyTo(question, asking, answer, pin, asking.arrival.target.pathAndQuery);
      }
    }
  };
};

export const createCountIdentity =
  (metrics: Pick<HttpMetrics, "identities" | "ignoredIdentities" | "forgedTokens">) =>
  ({ source, ignored, isForged }: Identity): void => {
    metrics.identities.inc({ source });
    for (const one of ignored) metrics.ignoredIdentities.inc({ source: one });
    if (isForged) metrics.forgedTokens.inc();
  };

const replied = (reply: Reply): Answered => ({ kind: "reply", reply });
