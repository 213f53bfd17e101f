/** Puts a question to steering and makes the reply. */
import type { IncomingMessage } from "node:http";
import type { World } from "#gtm/domain/world.ts";
import type { Steer } from "#gtm/steering/steer.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { apiFormOf } from "./api-error.ts";
import type { Arrival } from "./arrival.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Identity } from "./identity.ts";
import { createPinOf, type PinRules } from "./pin.ts";
import type { Question } from "./question.ts";
import { toHttpAnswer } from "./redirect.ts";
import { problemReply, type Reply, steeredReply, unknownModelReply } from "./reply.ts";

/** A question that was answerable. */
export type Readable = Exclude<Question, { kind: "unread" }>;
export type Answer = (question: Readable, arrival: Arrival, incoming: IncomingMessage) => Promise<Reply>;

export type AnswerRules = PinRules & {
  readonly steer: Steer;
  readonly world: () => World;
  readonly clock: Clock;
  readonly metrics: HttpMetrics;
};

export const createAnswer = (rules: AnswerRules): Answer => {
  const { steer, world, clock, metrics } = rules;
  const pinOf = createPinOf(rules);

  const originOf = (id: RegionId): string => {
    const region = world().regions.find((one) => one.id === id);
    if (region === undefined) throw new Error(`region ${id} was decided for and is not in the world`);
    return region.endpoint.url;
  };
  const count = ({ source, ignored, isForged }: Identity): void => {
    metrics.identities.inc({ source });
    for (const one of ignored) metrics.ignoredIdentities.inc({ source: one });
    if (isForged) metrics.forgedTokens.inc();
  };

  return async (question, { target }, { headers }) => {
    const form = apiFormOf(headers);
    switch (question.kind) {
      case "unknown-model":
        return unknownModelReply(form, question.model);
      case "no-model":
        return problemReply("no-model", "Name a model: in the body, or in the header X-GTM-Model.");
      case "asked": {
        const { query, identity } = question;
        count(identity);
        const answer = await steer(query, (decision) => toHttpAnswer(decision, originOf));
        return steeredReply({
          answer,
          decisionId: query.id,
          pathAndQuery: target.pathAndQuery,
          form,
          tookMs: clock.monotonicMs() - query.receivedAtMs,
          pin: pinOf(query, answer, question.prefix, clock.epochMs()),
        });
      }
    }
  };
};
