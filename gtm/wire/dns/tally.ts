/** Counts of queries and of what was done with them. */
import type { Metrics } from "#shared/metrics.ts";
import { RCODE, TYPE } from "./record-type.ts";

export type Transport = "udp" | "tcp";

/** Why a message got no answer. */
export type DropReason = "short" | "response" | "port-zero" | "overload" | "stopping";

export type Tally = {
  /** Every answer comes here, so it only adds to a number; `flush` hands the numbers on. */
  readonly answered: (transport: Transport, type: number, rcode: number) => void;
  readonly flush: () => void;
  readonly dropped: (reason: DropReason) => void;
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
  const counts = new Uint32Array(LABEL_SETS.length);
  return {
    answered: (transport, type, rcode) => {
      const at = indexOf(transport, type, rcode);
      counts[at] = (counts[at] ?? 0) + 1;
    },
    flush: () => {
      for (const [at, count] of counts.entries()) if (count > 0) queries.inc(LABEL_SETS[at], count);
      counts.fill(0);
    },
    dropped: (reason) => dropped.inc({ reason }),
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
const RCODE_AT = Uint8Array.from({ length: 17 }, (_, code) =>
  Math.max(
    0,
    RCODES.findIndex(([, one]) => one === code),
  ),
);

const indexOf = (transport: Transport, type: number, rcode: number): number => {
  const transportAt = transport === "udp" ? 0 : TYPES.length;
  return (transportAt + (TYPE_AT[type] ?? 0)) * RCODES.length + (RCODE_AT[rcode] ?? 0);
};
