/** The DNS server as several threads: each answers by itself, and the main thread tells them of the world and keeps the record. */
import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Degradations } from "#gtm/datalayer/degradations.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { ConfirmLabel } from "#gtm/wire/dns/label-confirm.ts";
import type { FindLabel } from "#gtm/wire/dns/label-finder.ts";
import type { Listen, ListenAddress } from "#gtm/wire/dns/listen.ts";
import { RATE_TABLE_OCTETS } from "#gtm/wire/dns/rate-limit.ts";
import type { DnsServer } from "#gtm/wire/dns/server.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createBookedMetrics } from "./booked-metrics.ts";
import { createLabelDesk } from "./label-desk.ts";
import { createMergedEntries, type MergedEntriesOptions } from "./merged-entries.ts";
import type { Batch, Birth, DnsSetup } from "./messages.ts";
import { createSnapshots, type SnapshotOptions } from "./snapshots.ts";
import { createThread } from "./thread.ts";
import { clockOriginMs } from "./thread-clock.ts";
import { createThreads } from "./threads.ts";
import { requireVacant } from "./vacancy.ts";

export type DnsWorkersOptions = Omit<SnapshotOptions, "clock"> & {
  /** Two or more. */
  readonly workers: number;
  readonly listen: readonly Listen[];
  readonly setup: DnsSetup;
  readonly ports: Pick<Ports, "world">;
  readonly findLabel: FindLabel;
  readonly confirmLabel: ConfirmLabel;
  /** How long a thread waits for a label before it answers by what the label itself says. */
  readonly labelWithinMs: number;
  readonly recorderAt: MergedEntriesOptions["recorderAt"];
  readonly degradations: Pick<Degradations, "set">;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
};

const newThread = (file: URL, birth: Birth): Worker => new Worker(file, { workerData: birth });

export type DnsWorkers = Omit<DnsServer, "prepare"> & {
  /** Another configuration, and who looks labels up by it. @returns puts it in place: each thread takes it whole, with the next epoch */
  readonly prepare: (changed: Pick<DnsWorkersOptions, "setup" | "findLabel" | "confirmLabel">) => () => void;
};

/**
 * `start` rejects with an OperationalError GTM_LISTEN_FAILED as one thread's does, and leaves nothing open.
 *
 * @param startThread tests keep hold of what it starts
 */
export const createDnsWorkers = (options: DnsWorkersOptions, startThread = newThread): DnsWorkers => {
  const { workers, listen, clock, metrics, log } = options;
  let { findLabel, confirmLabel } = options;
  const snapshots = createSnapshots(options);
  const labels = createLabelDesk({
    ...options,
    find: (label, clientSubnet) => findLabel(label, clientSubnet),
    confirm: (...asked) => confirmLabel(...asked),
  });
  const merged = createMergedEntries(options);
  const booked = createBookedMetrics(metrics);
  const birth: Birth = {
    setup: shareOf(options.setup, workers),
    clockOriginMs: clockOriginMs(clock),
    idSalt: randomUUID(),
    labelWithinMs: options.labelWithinMs,
    rateTable: new SharedArrayBuffer(RATE_TABLE_OCTETS),
  };
  const answers = metrics.counter({
    name: "gtm_dns_worker_answers_total",
    help: "DNS queries answered, by thread: how evenly the kernel spreads them.",
    labels: ["worker"],
  });
  let addresses: readonly ListenAddress[] = [];

  const onBatch = (at: number, batch: Batch): void => {
    threads.heard(at);
    booked.book(at, batch.metrics);
    answers.inc({ worker: String(at) }, answersIn(batch));
    for (const [level, event, fields] of batch.log) log[level](event, { ...fields, worker: at });
    merged.book(batch);
  };
  const threads = createThreads({
    ...{ count: workers, snapshots, clock, metrics, log },
    spawn: (at) =>
      createThread(startThread(new URL("./worker.ts", import.meta.url), birth), {
        onBatch: (batch) => onBatch(at, batch),
        onLabels: labels.ask,
      }),
    onEnded: booked.forget,
    onAway: (reason) => options.degradations.set("dns", reason),
  });
  return {
    name: "dns",
    start: async () => {
      await requireVacant(listen);
      addresses = await threads.start(listen);
      for (const at of addresses) log.info("dns.listening", { ...at, workers });
    },
    stop: threads.stop,
    addresses: () => addresses,
    prepare: (changed) => () => {
      ({ findLabel, confirmLabel } = changed);
      snapshots.settle(shareOf(changed.setup, workers));
    },
  };
};

const answersIn = ({ metrics }: Batch): number =>
  metrics
    .filter(({ spec }) => spec.name === "gtm_dns_queries_total")
    .flatMap(({ series }) => series)
    .reduce((sum, [, value]) => sum + value, 0);

/** Connections are spread over the threads by the kernel, so each gets its part of what all may have. */
const shareOf = (setup: DnsSetup, workers: number): DnsSetup => ({
  ...setup,
  limits: {
    ...setup.limits,
    tcpConnections: Math.ceil(setup.limits.tcpConnections / workers),
    tcpConnectionsPerPeer: Math.ceil(setup.limits.tcpConnectionsPerPeer / workers),
  },
});
