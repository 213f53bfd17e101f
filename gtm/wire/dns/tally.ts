/** Counts of queries and of what was done with them. */
import type { Metrics } from "#shared/metrics.ts";
import { RCODE, TYPE } from "./record-type.ts";

export type Transport = "udp" | "tcp";

/** Why a message got no answer. */
export type DropReason = "short" | "response" | "port-zero" | "overload" | "stopping";

/** `slip`: answered with TC and nothing else; `drop`: not answered. */
export type LimitAction = "slip" | "drop";

/** Queries since the last `flush`. */
export type RateLimited = Readonly<Record<LimitAction, number>>;

export type Tally = {
  /** Every answer comes here, so it only adds to a number; `flush` hands the numbers on. */
  readonly answered: (transport: Transport, type: number, rcode: number) => void;
  readonly flush: () => RateLimited;
  readonly dropped: (reason: DropReason) => void;
  /** Added up too until `flush`: a flood must not pay the price of a metric for each query. */
  readonly rateLimited: (action: LimitAction) => void;
  readonly sendFailed: (transport: Transport) => void;
  readonly labelRead: (kind: string) => void;
  /** An answer could not be made because of a bug; SERVFAIL was given. */
  readonly faulted: () => void;
  readonly tcpConnections: (open: number) => void;
  readonly tcpClosed: (reason: string) => void;
};

export const createTally = (metrics: Metrics): Tally => {
  const queries = metrics.counter({
    name: "gtm_dns_queries_total",
    help: "DNS queries answered; record types that few ask for are counted as OTHER.",
    labels: ["proto", "qtype", "rcode"],
  });
  const dropped = metrics.counter({
    name: "gtm_dns_dropped_total",
    help: "DNS messages that got no answer.",
    labels: ["reason"],
  });
  const rateLimited = metrics.counter({
    name: "gtm_dns_rate_limited_total",
    help: "Queries over UDP beyond their network's rate: answered with TC alone (slip), or not at all (drop).",
    labels: ["action"],
  });
  const sendErrors = metrics.counter({
    name: "gtm_dns_send_errors_total",
    help: "DNS answers that the socket did not take, and sockets that reported an error.",
    labels: ["proto"],
  });
  const labels = metrics.counter({
    name: "gtm_dns_labels_total",
    help: "Conversation labels read; forged: names one of our keys and is not signed with it.",
    labels: ["kind"],
  });
  const faults = metrics.counter({
    name: "gtm_dns_answer_faults_total",
    help: "Queries answered with SERVFAIL because of a bug.",
  });
  const connections = metrics.gauge({ name: "gtm_dns_tcp_connections", help: "DNS connections over TCP now open." });
  const closed = metrics.counter({
    name: "gtm_dns_tcp_closed_total",
    help: "DNS connections over TCP that this side closed.",
    labels: ["reason"],
  });
  const limited = { slip: 0, drop: 0 };
  const counts = new Uint32Array(LABEL_SETS.length);
  return {
    answered: (transport, type, rcode) => {
      const at = indexOf(transport, type, rcode);
      counts[at] = (counts[at] ?? 0) + 1;
    },
    flush: () => {
      for (const [at, count] of counts.entries()) if (count > 0) queries.inc(LABEL_SETS[at], count);
      counts.fill(0);
      const { slip, drop } = limited;
      if (slip > 0) rateLimited.inc({ action: "slip" }, slip);
      if (drop > 0) rateLimited.inc({ action: "drop" }, drop);
      limited.slip = 0;
      limited.drop = 0;
      return { slip, drop };
    },
    dropped: (reason) => dropped.inc({ reason }),
    rateLimited: (action) => {
      limited[action] += 1;
    },
    sendFailed: (proto) => sendErrors.inc({ proto }),
    labelRead: (kind) => labels.inc({ kind }),
    faulted: () => faults.inc(),
    tcpConnections: (open) => connections.set(open),
    tcpClosed: (reason) => closed.inc({ reason }),
  };
};

const TRANSPORTS: readonly Transport[] = ["udp", "tcp"];
const TYPES: readonly (readonly [name: string, type: number])[] = [["OTHER", 0], ...Object.entries(TYPE)];
const RCODES = Object.entries(RCODE);

/** By `indexOf`. */
const LABEL_SETS = TRANSPORTS.flatMap((proto) =>
  TYPES.flatMap(([qtype]) => RCODES.map(([rcode]) => ({ proto, qtype, rcode }))),
);
/** Positions in TYPES and RCODES by number; what is not there is the first, OTHER. */
const TYPE_AT = Uint8Array.from({ length: 258 }, (_, type) =>
  Math.max(
    0,
    TYPES.findIndex(([, one]) => one === type),
  ),
);
const RCODE_AT = Uint8Array.from({ length: 24 }, (_, code) =>
  Math.max(
    0,
    RCODES.findIndex(([, one]) => one === code),
  ),
);

const indexOf = (transport: Transport, type: number, rcode: number): number => {
  const transportAt = transport === "udp" ? 0 : TYPES.length;
  return (transportAt + (TYPE_AT[type] ?? 0)) * RCODES.length + (RCODE_AT[rcode] ?? 0);
};
