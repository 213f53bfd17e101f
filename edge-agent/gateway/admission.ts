/** From a request to an exchange: whose host, what ticket, which conversation, what body; or the problem that it is answered with. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import type { TicketOpener } from "#shared/ticket.ts";
import { type Arrival, arrivalOf } from "./arrival.ts";
import type { Origins } from "./connection-origin.ts";
import type { Identified, Spoken } from "./conversation.ts";
import { exposedHeaders } from "./cors.ts";
import type { Drain } from "./drain.ts";
import type { Exchange } from "./exchange.ts";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import type { Home } from "./homes.ts";
import { HOP_HEADER, hopIn } from "./hops.ts";
import type { Site } from "./hosts.ts";
import { bodyProblem, type Problem, type Refused } from "./problem.ts";
import { type BodyRules, readBody } from "./request-body.ts";
import type { RoundTrips } from "./round-trips.ts";
import { type Arrived, openTicket } from "./ticketed.ts";
import { turnOf } from "./turn.ts";
import { headersForEngine, ownHeadersFor } from "./turn-headers.ts";

export type AdmissionRules = {
  readonly region: RegionId;
  readonly paths: readonly string[];
  readonly siteOf: (host: string | null) => Site | null;
  readonly identify: (spoken: Spoken) => Identified;
  readonly opener: () => TicketOpener | null;
  readonly homeOf: (conversation: ConversationId) => Home;
  readonly drain: Pick<Drain, "isClosing">;
  readonly origins: Pick<Origins, "of">;
  readonly roundTrips: Pick<RoundTrips, "of">;
  readonly body: BodyRules;
  readonly clock: Clock;
  readonly metrics: GatewayMetrics;
};

export type Request = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The client sends the body once it is told to go on. */
  readonly expectsContinue: boolean;
  readonly receivedAtMs: number;
};

export type Admission =
  | { readonly kind: "admitted"; readonly exchange: Exchange }
  | { readonly kind: "problem"; readonly problem: Problem }
  | { readonly kind: "aborted" };

/** Never rejects. */
export const createAdmit = (rules: AdmissionRules) => {
  const { metrics } = rules;

  const identified = ({ incoming }: Request, { site }: Arrival, { claims, pinParameter }: Arrived): Identified => {
    const found = rules.identify({
      site,
      claims,
      parameter: pinParameter,
      header: textOf(incoming.headers["x-gtm-pin"]),
    });
    if (found.isForged) metrics.forgedPins.inc();
    return found;
  };

  /** Who came by name, and lives elsewhere by now, is served; its next turn resolves anew. */
  const elsewhere = ({ isByLabel, conversation, isLabelElsewhere }: Identified): (() => boolean) => {
    if (!isByLabel || conversation === null) return () => false;
    const home = rules.homeOf(conversation);
    return () => {
      const at = home();
      return at === null ? isLabelElsewhere : at !== rules.region;
    };
  };

  const opened = async ({ incoming }: Request, arrival: Arrival): Promise<Arrived | Refused> => {
    const { authority: host, pathAndQuery } = arrival;
    const asked = { method: incoming.method ?? "GET", host, pathAndQuery };
    const arrived = await openTicket(asked, rules.opener(), rules.clock.epochMs());
    if ("problem" in arrived) metrics.tickets.inc({ outcome: arrived.problem.code });
    else if (arrived.claims !== null) metrics.tickets.inc({ outcome: "opened" });
    return arrived;
  };

  /** Of a turn that another gateway sends on, this connection says nothing. */
  const networkOf = ({ incoming }: Request, { claims }: Arrived, hop: number): string | null => {
    if (claims !== null) return claims.clientPrefix;
    const origin = rules.origins.of(incoming.socket);
    return hop > 0 && !origin.isBalancer ? null : origin.networkOf(textOf(incoming.headers["x-forwarded-for"]));
  };

  return async (request: Request): Promise<Admission> => {
    const { incoming, outgoing, receivedAtMs } = request;
    const { headers } = incoming;
    const arrival = arrivalOf(incoming, rules.siteOf, rules.paths);
    if (arrival.kind === "problem") return arrival;
    const arrived = await opened(request, arrival);
    if ("problem" in arrived) return arrived;
    const who = identified(request, arrival, arrived);
    const isElsewhere = elsewhere(who);
    if (request.expectsContinue) outgoing.writeContinue();
    const body = await readBody(incoming, rules.body);
    if (body.kind === "aborted") return { kind: "aborted" };
    if (body.kind === "too-large") return bodyProblem(body.kind);
    const hop = hopIn(textOf(headers[HOP_HEADER]));
    const clientPrefix = networkOf(request, arrived, hop);
    const rttMs = clientPrefix === null ? null : rules.roundTrips.of(clientPrefix);
    const { claims, pathAndQuery } = arrived;
    const turn = turnOf({
      headers,
      identified: who,
      claims,
      body,
      path: arrival.path,
      clientPrefix,
      rttMs,
      receivedAtMs,
    });
    const closes = (): boolean => rules.drain.isClosing() || isElsewhere();
    return {
      kind: "admitted",
      exchange: {
        ...{ incoming, outgoing, body, turn, identified: who, claims, hop, pathAndQuery },
        method: incoming.method ?? "GET",
        headers: headersForEngine(incoming, claims),
        ownHeaders: () => [
          ...ownHeadersFor({ incoming, outgoing, region: rules.region, closes: closes() }),
          ...(who.pin === null ? [] : ["X-GTM-Pin", who.pin]),
          ...(turn.decision === null ? [] : ["X-GTM-Decision", turn.decision]),
          ...["X-Accel-Buffering", "no"],
          ...exposedHeaders(headers),
        ],
      },
    };
  };
};

const textOf = (value: string | string[] | undefined): string | null =>
  value === undefined ? null : Array.isArray(value) ? (value[0] ?? null) : value;
