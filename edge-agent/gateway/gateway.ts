/** The way of a turn through the gateway: admitted, sent to the replica that was chosen, or to another region where this one refuses. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "undici";
import { type AdmissionRules, createAdmit } from "./admission.ts";
import { exposedHeaders, isPreflight, preflightHeaders } from "./cors.ts";
import type { Drain } from "./drain.ts";
import type { Exchange } from "./exchange.ts";
import { answerHealth, HEALTH_PATH, reasonsAgainst } from "./health.ts";
import { toOtherRegions } from "./hops.ts";
import type { Refusal, Replicas } from "./ports.ts";
import { answerProblem, bodyProblem, type Problem, refusalProblem, UNANSWERED } from "./problem.ts";
import type { Refusals } from "./refusals.ts";
import { toEngine } from "./to-engine.ts";
import { ownHeadersFor } from "./turn-headers.ts";

export type GatewayRules = Omit<AdmissionRules, "drain"> & {
  readonly replicas: Pick<Replicas, "choose" | "answering">;
  readonly refusals: Pick<Refusals, "tell">;
  readonly drain: Pick<Drain, "isClosing" | "isRefusing" | "why">;
  readonly engines: Agent;
  readonly regions: Agent;
  readonly engineIdleMs: number;
  readonly readerIdleMs: number;
};

const DRAINING: Refusal = { kind: "refused", reason: "draining", retryAfterMs: 1_000 };

export type Handle = (incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean) => Promise<void>;

/** Resolves when the answer has been handed to the connection. Rejects for bugs only. */
export const createGateway = (rules: GatewayRules): Handle => {
  const { metrics, drain } = rules;
  const admit = createAdmit(rules);

  const answer = (incoming: IncomingMessage, outgoing: ServerResponse, problem: Problem): void => {
    metrics.answers.inc({ code: problem.code });
    // Of a connection whose request did not end nobody knows what comes next on it.
    const closes = !incoming.complete || drain.isClosing();
    const own = ownHeadersFor({ incoming, outgoing, region: rules.region, closes });
    answerProblem(incoming, outgoing, { problem, further: [...own, ...exposedHeaders(incoming.headers)] });
  };

  const refuse = async (exchange: Exchange, refusal: Refusal): Promise<void> => {
    const { incoming, outgoing, identified } = exchange;
    metrics.refusals.inc({ reason: refusal.reason });
    if (identified.conversation !== null) rules.refusals.tell(identified.conversation, refusal.reason);
    const end = await toOtherRegions(exchange, {
      agent: rules.regions,
      region: rules.region,
      idleMs: rules.engineIdleMs,
      readerIdleMs: rules.readerIdleMs,
      onHop: (to, outcome) => metrics.hops.inc({ to, outcome }),
    });
    if (end.kind === "body") return answer(incoming, outgoing, bodyProblem(end.fault.kind).problem);
    metrics.turns.inc({ outcome: end.kind === "nowhere" ? "refused" : end.kind });
    if (end.kind === "nowhere") answer(incoming, outgoing, refusalProblem(refusal));
  };

  const serve = async (exchange: Exchange): Promise<void> => {
    const { incoming, outgoing } = exchange;
    if (drain.isRefusing()) return refuse(exchange, DRAINING);
    const end = await toEngine(exchange, {
      replicas: rules.replicas,
      agent: rules.engines,
      engineIdleMs: rules.engineIdleMs,
      readerIdleMs: rules.readerIdleMs,
      onAttemptFailed: (reason) => metrics.attemptsFailed.inc({ reason }),
    });
    switch (end.kind) {
      case "served":
      case "aborted":
      case "failed":
        return metrics.turns.inc({ outcome: end.kind });
      case "refused":
        return refuse(exchange, end.refusal);
      case "body":
        return answer(incoming, outgoing, bodyProblem(end.fault.kind).problem);
      case "unanswered":
        metrics.turns.inc({ outcome: "failed" });
        return answer(incoming, outgoing, UNANSWERED[end.isSilence ? "silence" : "failure"]);
    }
  };

  return async (incoming, outgoing, expectsContinue) => {
    const receivedAtMs = rules.clock.monotonicMs();
    if (isHealth(incoming)) {
      const own = ownHeadersFor({ incoming, outgoing, region: rules.region, closes: drain.isClosing() });
      return answerHealth(outgoing, reasonsAgainst(rules.replicas, drain), own);
    }
    if (isPreflight(incoming.method, incoming.headers)) {
      outgoing.writeHead(204, [...preflightHeaders(incoming.headers)]);
      outgoing.end();
      return;
    }
    const admission = await admit({ incoming, outgoing, expectsContinue, receivedAtMs });
    if (admission.kind === "admitted") {
      await serve(admission.exchange);
      // An engine may answer before it has read all; the next request comes behind the rest.
      if (!incoming.complete) incoming.resume();
    } else if (admission.kind === "problem") answer(incoming, outgoing, admission.problem);
    else metrics.turns.inc({ outcome: "aborted" });
  };
};

const isHealth = ({ method, url }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") && url?.split("?", 1)[0] === HEALTH_PATH;
