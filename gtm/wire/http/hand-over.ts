/** How a decided turn is handed to its region: as what follows the origin in `Location`, or as an order to forward. */
import type { IncomingMessage } from "node:http";
import type { Decision } from "#gtm/domain/decision.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { tagOf } from "#shared/pin-token.ts";
import type { TicketSealer } from "#shared/ticket.ts";
import { type Alternate, alternatesOf, predictedTtftMsOf } from "./alternates.ts";
import type { Arrival } from "./arrival.ts";
import type { Credentials } from "./credentials.ts";
import type { ForwardOrder, ForwardTarget } from "./forward-order.ts";
import { PIN_PARAMETER, withoutOwnParameters, withParameter } from "./own-parameters.ts";
import type { PinOf } from "./pin.ts";
import type { Question } from "./question.ts";
import type { HttpAnswer } from "./redirect.ts";
import type { Pin } from "./reply.ts";
import { createSealTarget, MOST_TICKET_OCTETS, type SealOrder } from "./sealed-target.ts";
import type { Way } from "./way.ts";

/** A request together with what was found out about it. */
export type Asking = {
  readonly arrival: Arrival;
  readonly incoming: IncomingMessage;
  readonly credentials: Credentials;
  /** Whether the body is still there to be forwarded. */
  readonly mayForward: boolean;
};

/** Where a turn goes, and why. */
export type Steered = {
  readonly asked: Extract<Question, { kind: "asked" }>;
  readonly answer: HttpAnswer & { readonly status: 307 };
  readonly decision: Decision;
  readonly pin: Pin | null;
};

export type HandOverRules = {
  /** Regions whose gateway opens tickets. */
  readonly gateways: ReadonlySet<RegionId>;
  /** Of now; null: no region has a gateway. */
  readonly ticketSealer: () => TicketSealer | null;
  readonly originOf: (region: RegionId) => string;
  readonly pinOf: PinOf;
  readonly clock: Clock;
};

export type HandOver = {
  /** What follows the origin in `Location`; null: the ticket is too large, and the request has to be forwarded. */
  readonly target: (way: Exclude<Way, "forward">, steered: Steered, asking: Asking) => Promise<string | null>;
  readonly order: (steered: Steered, asking: Asking) => ForwardOrder;
};

export const createHandOver = ({ gateways, ticketSealer, originOf, pinOf, clock }: HandOverRules): HandOver => {
  const sealTarget = createSealTarget(ticketSealer);
  const hasGateway = (region: RegionId): boolean => gateways.has(region);

  const sealOrder = (
    { asked: { query }, answer, decision, pin }: Steered,
    { arrival, incoming, credentials }: Asking,
  ): SealOrder => ({
    region: answer.region,
    origin: answer.origin,
    method: incoming.method ?? "GET",
    pathAndQuery: arrival.target.pathAndQuery,
    pool: query.pool.name,
    model: decision.turn.model,
    conversation: query.conversationId,
    parent: query.parentId,
    pin: pin?.token ?? null,
    decision: query.id,
    predictedTtftMs: predictedTtftMsOf(decision, answer.region),
    clientSubnet: query.clientSubnet,
    credentials,
    alternates: alternatesOf(decision, answer.region, originOf, hasGateway),
    // Nobody's guess is better than what the gateway itself has measured.
    outputTokens: decision.turn.outputSource === "prior" ? null : decision.turn.outputTokens,
    tenantTag: tagOf(query.tenant),
    promptTokens: query.promptTokens,
  });

  const forwardTarget = (steered: Steered, asking: Asking, to: Alternate): ForwardTarget => {
    const { asked, decision } = steered;
    const answer = { ...steered.answer, ...to };
    const isChosen = to.region === steered.answer.region;
    const pin = isChosen ? steered.pin : pinOf(asked.query, answer, asked.prefix, clock.epochMs());
    const { pathAndQuery } = asking.arrival.target;
    // The credentials go along as they are; the ticket says the rest, so that a gateway learns as much as from a redirect.
    const seal = (): Promise<string | null> => {
      const order = sealOrder({ ...steered, answer, pin }, { ...asking, credentials: [] });
      return sealTarget(order, Number.POSITIVE_INFINITY, clock.epochMs());
    };
    return {
      ...to,
      pin,
      predictedTtftMs: predictedTtftMsOf(decision, to.region),
      pathAndQuery: hasGateway(to.region) ? seal : async () => pathAndQuery,
    };
  };

  return {
    target: async (way, steered, asking) => {
      const { pathAndQuery } = asking.arrival.target;
      switch (way) {
        case "redirect":
          return pathAndQuery;
        case "pin":
          return withParameter(withoutOwnParameters(pathAndQuery), PIN_PARAMETER, steered.pin?.token ?? "");
        case "ticket": {
          // A body that is gone cannot be forwarded: better a long redirect than none.
          const most = asking.mayForward ? MOST_TICKET_OCTETS : Number.POSITIVE_INFINITY;
          return await sealTarget(sealOrder(steered, asking), most, clock.epochMs());
        }
      }
    },
    order: (steered, asking) => {
      const { asked, answer, decision } = steered;
      const first = { region: answer.region, origin: answer.origin };
      const others = alternatesOf(decision, answer.region, originOf, () => true);
      return {
        targets: [first, ...others].map((to) => forwardTarget(steered, asking, to)),
        decisionId: asked.query.id,
        verdict: answer.verdict,
        path: asking.arrival.target.path,
        steeredMs: clock.monotonicMs() - asked.query.receivedAtMs,
      };
    },
  };
};
