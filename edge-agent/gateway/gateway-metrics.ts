/** What the gateway counts. */
import type { Counter, Gauge, MetricSpec, Metrics } from "#shared/metrics.ts";

export type GatewayMetrics = {
  readonly turns: Counter;
  readonly answers: Counter;
  readonly tickets: Counter;
  readonly attemptsFailed: Counter;
  readonly hops: Counter;
  readonly refusals: Counter;
  readonly forgedPins: Counter;
  readonly clientErrors: Counter;
  readonly proxyRefused: Counter;
  readonly acceptFailures: Counter;
  readonly refusedConnections: Counter;
  readonly cutTurns: Counter;
  readonly connections: Gauge;
  readonly underWay: Gauge;
};

export const createGatewayMetrics = (metrics: Metrics): GatewayMetrics => {
  const counter = (spec: MetricSpec): Counter => {
    const made = metrics.counter(spec);
    if (spec.labels === undefined) made.inc({}, 0);
    return made;
  };
  return {
    turns: counter({
      name: "gtm_gateway_requests_total",
      help: "Requests that were sent to an engine or another region, by how they ended.",
      labels: ["outcome"],
    }),
    answers: counter({
      name: "gtm_gateway_answers_total",
      help: "Errors that the gateway itself answered with, by code.",
      labels: ["code"],
    }),
    tickets: counter({
      name: "gtm_gateway_tickets_total",
      help: "Tickets that came, by what became of them.",
      labels: ["outcome"],
    }),
    attemptsFailed: counter({
      name: "gtm_gateway_attempts_failed_total",
      help: "Attempts at an engine that ended before the first byte of an answer, by why.",
      labels: ["reason"],
    }),
    hops: counter({
      name: "gtm_gateway_hops_total",
      help: "Refused turns that were sent on to another region, by how they ended.",
      labels: ["to", "outcome"],
    }),
    refusals: counter({
      name: "gtm_gateway_refusals_total",
      help: "Turns refused before the first byte, by why.",
      labels: ["reason"],
    }),
    forgedPins: counter({
      name: "gtm_gateway_pins_forged_total",
      help: "Labels and pin tokens that name a key of ours and are not signed with it.",
    }),
    clientErrors: counter({
      name: "gtm_gateway_client_errors_total",
      help: "Connections that spoke no HTTP or no TLS, or too slowly, by the parser's code.",
      labels: ["code"],
    }),
    proxyRefused: counter({
      name: "gtm_gateway_proxy_headers_refused_total",
      help: "Connections of balancers that were cut before a PROXY header was read, by why.",
      labels: ["reason"],
    }),
    acceptFailures: counter({
      name: "gtm_gateway_accept_failures_total",
      help: "Connections that the process could not accept.",
    }),
    refusedConnections: counter({
      name: "gtm_gateway_connections_refused_total",
      help: "Connections beyond limits.connections.",
    }),
    cutTurns: counter({
      name: "gtm_gateway_turns_cut_total",
      help: "Turns that were still under way at the drain's deadline.",
    }),
    connections: metrics.gauge({ name: "gtm_gateway_connections", help: "Open connections of clients." }),
    underWay: metrics.gauge({ name: "gtm_gateway_turns_under_way", help: "Turns that have not ended." }),
  };
};
