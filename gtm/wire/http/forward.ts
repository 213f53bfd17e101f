/** Forwards a request to its region: streamed both ways, at the slower side's pace, to another region only while nothing was sent. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "undici";
import type { Clock } from "#shared/clock.ts";
import { failureEvent } from "#shared/sse-failure.ts";
import { type Dispatches, type Pumped, pump } from "#shared/stream-pump.ts";
import type { BodyEnd } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { answerHeaders, requestHeaders } from "./forward-headers.ts";
import type { ForwardOrder, ForwardTarget } from "./forward-order.ts";
import { BodyFault, type HeldBody } from "./held-body.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import type { Limits } from "./limits.ts";
import type { Peer } from "./peers.ts";
import { problemReply } from "./reply.ts";

export type ForwardRules = {
  /** To the regions. */
  readonly agent: Agent;
  readonly limits: Pick<Limits, "forwardIdleMs" | "readerStallMs">;
  readonly metrics: HttpMetrics;
  readonly clock: Clock;
  readonly isLast: (incoming: IncomingMessage) => boolean;
};

export type Forwarding = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly exchange: Exchange;
  readonly peer: Peer;
  readonly body: HeldBody;
  readonly order: ForwardOrder;
  /** Answers a client whose own body was at fault. */
  readonly onBroken: (end: Exclude<BodyEnd, { kind: "ended" }>) => void;
};

export type Forward = {
  /** Never rejects for what a region or a client does. */
  readonly send: (what: Forwarding) => Promise<void>;
  /** Ends the idle connections to the regions. */
  readonly close: () => Promise<void>;
};

/** A prediction is a mean: twice as long is common. */
const SILENCE_FACTOR = 4;
const MS_PER_SECOND = 1_000;

type Attempt = { readonly pumped: Pumped; readonly wasSent: boolean };

export const createForward = ({ agent, limits, metrics, clock, isLast }: ForwardRules): Forward => {
  let closed: Promise<void> | null = null;
  let underWay = 0;
  const move = (by: number): void => {
    underWay += by;
    metrics.forwardsUnderWay.set(underWay);
  };

  const attempt = async (what: Forwarding, target: ForwardTarget, decidedAtMs: number): Promise<Attempt> => {
    const { incoming, outgoing, order, body, peer } = what;
    const path = (await target.pathAndQuery()) ?? order.path;
    const idleMs = Math.max(limits.forwardIdleMs, SILENCE_FACTOR * (target.predictedTtftMs ?? 0));
    let wasSent = false;
    const watched: Dispatches<Agent.DispatchOptions> = {
      dispatch: (options, handler) =>
        agent.dispatch(options, {
          ...handler,
          // Undici calls it when there is a connection, right before the first octet.
          onRequestStart: (controller) => {
            wasSent = true;
            handler.onRequestStart(controller);
          },
        }),
    };
    const options: Agent.DispatchOptions = {
      origin: target.origin,
      path,
      method: incoming.method ?? "GET",
      headers: requestHeaders(incoming, peer, target),
      body: body.send(),
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    };
    const pumped = await pump(watched, options, {
      outgoing,
      declines: () => false,
      headersFor: (status, raw) => {
        metrics.answers.inc({ status: `${status}` });
        return answerHeaders(incoming, raw, { order, target, isLast: isLast(incoming) });
      },
      head: () => metrics.forwardFirstByte.observe((clock.monotonicMs() - decidedAtMs) / MS_PER_SECOND),
      chunk: () => {},
      before: () => null,
      failureEvent: () =>
        failureEvent(order.path, "The region ended in the middle of its answer. Send the request again."),
      readerStallMs: limits.readerStallMs,
    });
    return { pumped, wasSent };
  };

  const sendTo = async (what: Forwarding): Promise<void> => {
    const decidedAtMs = clock.monotonicMs();
    let last: Error | null = null;
    for (const [at, target] of what.order.targets.entries()) {
      if (at > 0) metrics.forwardRetries.inc();
      const { pumped, wasSent } = await attempt(what, target, decidedAtMs);
      if (pumped.kind !== "unanswered") return over(pumped.kind);
      last = pumped.error;
      if (last instanceof BodyFault) return broken(what, last);
      // What may have been read, or begun, must not be done twice.
      if (wasSent || !what.body.canSend()) break;
    }
    return unanswered(what, last);
  };

  const over = (outcome: string): void => {
    metrics.forwards.inc({ outcome });
  };
  const broken = ({ onBroken }: Forwarding, { end }: BodyFault): void => {
    metrics.forwards.inc({ outcome: "body" });
    onBroken(end);
  };
  const unanswered = ({ exchange }: Forwarding, error: Error | null): void => {
    const isSilent = error !== null && "code" in error && error.code === "UND_ERR_HEADERS_TIMEOUT";
    metrics.forwards.inc({ outcome: isSilent ? "silent" : "unreachable" });
    const { headers, ...reply } = isSilent
      ? problemReply("region-silent", "The region took the request and did not answer in time.")
      : problemReply("region-unreachable", "The region could not be reached, or ended before it answered.");
    exchange.sendAndClose({ ...reply, headers: { ...headers, "Retry-After": "1", "x-should-retry": "true" } });
  };

  return {
    send: async (what) => {
      move(1);
      try {
        return await sendTo(what);
      } finally {
        move(-1);
      }
    },
    close: () => {
      closed ??= agent.close();
      return closed;
    },
  };
};
