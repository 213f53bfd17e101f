/** The DNS server as real threads, on a world that the test changes; the GTM around it is made of as little as they need. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { AcmeEntry } from "#gtm/datalayer/acme-values.ts";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import type { Degradation } from "#gtm/datalayer/degradations.ts";
import type { Facts } from "#gtm/dns-workers/messages.ts";
import { createDnsWorkers, type DnsWorkers, type DnsWorkersOptions } from "#gtm/dns-workers/server.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { FindLabel } from "#gtm/wire/dns/label-finder.ts";
import type { ListenAddress } from "#gtm/wire/dns/listen.ts";

import { systemClock } from "#shared/clock.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aWorld, PLACES } from "./builders.ts";
import { aDnsSetting, REGIONS } from "./dns-zone.ts";
import { metricValue } from "./metric-value.ts";
import { recordingLog } from "./recording-log.ts";

export type DnsThreadsWish = {
  readonly workers?: number;
  readonly listen?: ListenAddress;
  readonly findLabel?: FindLabel;
  readonly labelWithinMs?: number;
  readonly why?: boolean;
};

export type DnsThreads = AsyncDisposable & {
  readonly server: DnsWorkers;
  readonly at: ListenAddress;
  readonly log: ReturnType<typeof recordingLog>;
  readonly metrics: Metrics;
  readonly entries: readonly Entry[];
  readonly count: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  /** The next snapshot, with a new candidacy: an epoch. */
  readonly setRegions: (change: (region: Region) => Region) => void;
  readonly setFacts: (facts: Partial<Omit<Facts, "areAgesFrozen">>) => void;
  readonly present: (name: string, entries: readonly AcmeEntry[]) => void;
  /** Ends the thread that was started last but so many, as a fault of its own would. */
  readonly kill: (fromLast: number) => Promise<void>;
  readonly away: () => Degradation["reason"] | null;
};

/** As often as the world source makes one. */
const SNAPSHOT_MS = 100;
const GEO = [
  { cidr: "192.0.2.0/24", location: PLACES.frankfurt, name: "frankfurt" },
  { cidr: "198.51.100.0/24", location: PLACES.virginia, name: "virginia" },
  { cidr: "203.0.113.0/24", location: PLACES.singapore, name: "singapore" },
];

export const startDnsThreads = async (wish: DnsThreadsWish = {}): Promise<DnsThreads> => {
  const { options: zone } = aDnsSetting();
  const clock = systemClock;
  const metrics = createMetrics();
  const log = recordingLog();
  const entries: Entry[] = [];
  const started: Worker[] = [];
  const worldListeners: ((world: World) => void)[] = [];
  const challengeListeners: ((name: string, entries: readonly AcmeEntry[]) => void)[] = [];
  let world: World = aWorld(REGIONS, { takenAtMs: clock.monotonicMs() });
  let facts: Omit<Facts, "areAgesFrozen"> = {
    degradations: [],
    savedAtMs: null,
    cookieKeys: [new Uint8Array(16).fill(7)],
    labelKeys: ephemeralLabelKeys(),
  };
  let away: string | null = null;
  const cells = createCellRegions(clock);
  const publish = (next: Partial<World>): void => {
    world = { ...world, ...next, version: world.version + 1, takenAtMs: clock.monotonicMs() };
    for (const listener of worldListeners) listener(world);
  };
  const stranger: FindLabel = async () => ({
    finding: { kind: "stranger", pool: zone.defaultPool.name },
    atMs: clock.monotonicMs(),
    candidacyVersion: world.candidacyVersion,
  });
  const options: DnsWorkersOptions = {
    workers: wish.workers ?? 2,
    listen: [wish.listen ?? { address: "127.0.0.1", port: 0 }],
    setup: {
      ...{ zone: zone.zone, limits: zone.limits, rateLimit: zone.rateLimit, isBatched: true },
      ...{ regions: zone.regions, pools: zone.pools, models: zone.models, defaultPool: zone.defaultPool },
      ...{ frontAddresses: zone.frontAddresses, nsid: null, ownSubnets: [], policy: DEFAULT_POLICY },
      whyAllow: wish.why === true ? ["127.0.0.0/8"] : [],
      geo: { provider: "static", static: GEO },
    },
    source: { world: () => world, watch: (listener) => worldListeners.push(listener) },
    cells,
    challenges: { watch: (listener) => challengeListeners.push(listener) },
    facts: () => facts,
    ports: { world: () => world },
    findLabel: wish.findLabel ?? stranger,
    confirmLabel: () => false,
    // No test waits for so long, and none is late because the machine is busy.
    labelWithinMs: wish.labelWithinMs ?? 60_000,
    recorderAt: () => (entry) => {
      entries.push(entry);
      cells.note(entry);
    },
    degradations: {
      set: (_, reason) => {
        away = reason;
      },
    },
    ...{ clock, metrics, log },
  };
  const server = createDnsWorkers(options, (file, birth) => {
    const thread = new Worker(file, { workerData: birth });
    started.push(thread);
    return thread;
  });
  await server.start();
  const snapshots = setInterval(() => publish({}), SNAPSHOT_MS);
  const [at = { address: "", port: 0 }] = server.addresses();
  return {
    ...{ server, at, log, metrics, entries },
    count: (name, labels) => metricValue(metrics, name, labels),
    setRegions: (change) =>
      publish({ regions: world.regions.map(change), candidacyVersion: world.candidacyVersion + 1 }),
    setFacts: (some) => {
      facts = { ...facts, ...some };
      publish({});
    },
    present: (name, values) => {
      for (const listener of challengeListeners) listener(name, values);
    },
    kill: async (fromLast) => {
      const thread = started.at(-1 - fromLast);
      if (thread === undefined) throw new Error("no such thread");
      const gone = once(thread, "exit");
      await thread.terminate();
      await gone;
    },
    away: () => away,
    [Symbol.asyncDispose]: async () => {
      clearInterval(snapshots);
      await server.stop();
    },
  };
};
