/** What the front door counts. */
import type { Counter, Gauge, Histogram, Metrics } from "#shared/metrics.ts";

export type HttpMetrics = {
  readonly answers: Counter;
  readonly aborts: Counter;
  readonly clientErrors: Counter;
  readonly bodyBytes: Counter;
  readonly unscanned: Counter;
  readonly identities: Counter;
  readonly ignoredIdentities: Counter;
  readonly forgedTokens: Counter;
  readonly ways: Counter;
  readonly forwards: Counter;
  readonly forwardRetries: Counter;
  readonly forwardsUnderWay: Gauge;
  readonly forwardFirstByte: Histogram;
  readonly proxyHeadersRefused: Counter;
  readonly connections: Gauge;
  readonly refusedConnections: Counter;
  readonly cutConnections: Counter;
  readonly acceptFailures: Counter;
};

/** A first token comes after tens of milliseconds, or after minutes. */
const FIRST_BYTE_BUCKETS_S = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

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
    help: "Requests steered by their headers alone: their body's type or encoding is none that is read, it is broken, or a bomb.",
    labels: ["why"],
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
  ways: metrics.counter({
    name: "gtm_http_ways_total",
    help: "Steered requests by their way to the region: redirect, ticket (with sealed credentials), pin (with the conversation), forward.",
    labels: ["way"],
  }),
  forwards: metrics.counter({
    name: "gtm_http_forwards_total",
    help: "Requests that were forwarded, by how that ended: served, aborted by the client, failed in mid-answer, unreachable, silent, or the client's own body was at fault.",
    labels: ["outcome"],
  }),
  forwardRetries: metrics.counter({
    name: "gtm_http_forward_retries_total",
    help: "Requests that were forwarded to another region because the first could not be reached; nothing had been sent.",
  }),
  forwardsUnderWay: metrics.gauge({
    name: "gtm_http_forwards_under_way",
    help: "Requests that are being forwarded now.",
  }),
  forwardFirstByte: metrics.histogram({
    name: "gtm_http_forward_first_byte_seconds",
    help: "From the decision to the first octet of the region's answer.",
    buckets: FIRST_BYTE_BUCKETS_S,
  }),
  proxyHeadersRefused: metrics.counter({
    name: "gtm_http_proxy_headers_refused_total",
    help: "Connections of trusted proxies that were closed because they did not begin with a PROXY header of version 2.",
    labels: ["reason"],
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
