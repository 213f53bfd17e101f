/** Counts of queries and of what was done with them; label sets are made beforehand, since every answer comes here. */
import type { Metrics } from "#shared/metrics.ts";
import { RCODE, TYPE } from "./record-type.ts";

export type Transport = "udp" | "tcp";

/** Why a message got no answer. */
export type DropReason = "short" | "response" | "port-zero" | "overload" | "stopping";

export type Tally = {
  readonly answered: (transport: Transport, type: number, rcode: number) => void;
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
  const labelSets = { udp: labelSetsOf("udp"), tcp: labelSetsOf("tcp") };
  return {
    answered: (transport, type, rcode) => {
      const sets = labelSets[transport];
      const byRcode = sets.get(type) ?? sets.get(OTHER);
      queries.inc(byRcode?.[rcode]);
    },
    dropped: (reason) => dropped.inc({ reason }),
    sendFailed: (proto) => sendErrors.inc({ proto }),
    labelRead: (kind) => labels.inc({ kind }),
    faulted: () => faults.inc(),
    tcpConnections: (open) => connections.set(open),
    tcpClosed: (reason) => closed.inc({ reason }),
  };
};

/** No record type has this number (RFC 6895 §3.1 reserves 0). */
const OTHER = 0;

type LabelSet = Readonly<Record<"proto" | "qtype" | "rcode", string>>;

const labelSetsOf = (proto: Transport): ReadonlyMap<number, readonly LabelSet[]> => {
  const types: readonly (readonly [string, number])[] = [...Object.entries(TYPE), ["OTHER", OTHER]];
  return new Map(types.map(([qtype, type]) => [type, rcodesOf(proto, qtype)]));
};

/** Indexed by code; those that are never given stand empty. */
const rcodesOf = (proto: Transport, qtype: string): readonly LabelSet[] => {
  const sets: LabelSet[] = [];
  for (const [rcode, code] of Object.entries(RCODE)) sets[code] = { proto, qtype, rcode };
  return sets;
};
