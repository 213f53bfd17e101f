/** What the front door counts. */
import type { Counter, Gauge, Metrics } from "#shared/metrics.ts";

export type HttpMetrics = {
  readonly answers: Counter;
  readonly aborts: Counter;
  readonly clientErrors: Counter;
  readonly bodyBytes: Counter;
  readonly unscanned: Counter;
  readonly identities: Counter;
  readonly ignoredIdentities: Counter;
  readonly forgedTokens: Counter;
  readonly connections: Gauge;
  readonly refusedConnections: Counter;
  readonly cutConnections: Counter;
  readonly acceptFailures: Counter;
};

export const createHttpMetrics = (metrics: Metrics): HttpMetrics => ({
  answers: metrics.counter({
    name: "gtm_http_answers_total",
    help: "Answers of the front door, by status.",
    labels: ["status"],
  }),
  aborts: metrics.counter({
    name: "gtm_http_aborts_total",
    help: "Requests whose client went away before the answer was sent.",
  }),
  clientErrors: metrics.counter({
    name: "gtm_http_client_errors_total",
    help: "Connections that sent no HTTP, too much of it, or too slowly, by the parser's code.",
    labels: ["code"],
  }),
  bodyBytes: metrics.counter({
    name: "gtm_http_body_bytes_total",
    help: "Octets of request bodies that were read and thrown away.",
  }),
  unscanned: metrics.counter({
    name: "gtm_http_bodies_unscanned_total",
    help: "Requests steered by their headers alone, because their body is no plain JSON.",
  }),
  identities: metrics.counter({
    name: "gtm_conversation_identity_total",
    help: "Steered requests by what named their conversation; none: nothing did.",
    labels: ["source"],
  }),
  ignoredIdentities: metrics.counter({
    name: "gtm_conversation_identity_ignored_total",
    help: "Names of conversations that were passed over because they are longer than 256 octets.",
    labels: ["source"],
  }),
  forgedTokens: metrics.counter({
    name: "gtm_http_pin_tokens_forged_total",
    help: "Pin tokens and labels that name one of our keys and are not signed with it.",
  }),
  connections: metrics.gauge({ name: "gtm_http_connections", help: "Open connections to the front door." }),
  refusedConnections: metrics.counter({
    name: "gtm_http_connections_refused_total",
    help: "Connections closed at once because as many as allowed are open.",
  }),
  cutConnections: metrics.counter({
    name: "gtm_http_connections_cut_total",
    help: "Connections that were still busy when the time to stop was over.",
  }),
  acceptFailures: metrics.counter({
    name: "gtm_http_accept_failures_total",
    help: "Connections that the system could not hand over, as when descriptors run out.",
  }),
});
