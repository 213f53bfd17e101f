/** The parts of the gateway put together as the configuration says. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createTicketMemory } from "#shared/ticket-memory.ts";
import { watchTlsFiles } from "#shared/tls-files.ts";
import { engineAgent, regionAgent } from "./agents.ts";
import { createClients } from "./clients.ts";
import type { GatewayConfig } from "./config.ts";
import { createOrigins } from "./connection-origin.ts";
import { createIdentify } from "./conversation.ts";
import { openDoors } from "./doors.ts";
import { createDrain } from "./drain.ts";
import { createGateway } from "./gateway.ts";
import { type GatewayKeys, watchGatewayKeys } from "./gateway-keys.ts";
import { createGatewayMetrics } from "./gateway-metrics.ts";
import { reasonsAgainst } from "./health.ts";
import { createHomes } from "./homes.ts";
import { siteFinder } from "./hosts.ts";
import type { Listener } from "./listener.ts";
import type { Replicas } from "./ports.ts";
import { createRefusals } from "./refusals.ts";
import { createRoundTrips } from "./round-trips.ts";
import { createStoreWarnings } from "./store-warnings.ts";
import { rememberInRegion } from "./ticket-uses.ts";

export type GatewayOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Who chooses among the region's replicas. */
  readonly replicasOf: (keys: Pick<GatewayKeys, "labels" | "reportKey">) => Replicas;
};

export type RunningGateway = {
  /** In the order of the configuration. */
  readonly addresses: readonly Listener["address"][];
  /** None: it can serve. */
  readonly reasonsAgainst: () => readonly string[];
  /** Lets turns end, within the drain's deadline; asked twice, it is one stop. */
  readonly stop: () => Promise<void>;
};

const CERTIFICATE_LOOK_MS = 5_000;
/** A small body that takes longer to come is passed on meanwhile. */
const GATHER_MS = 1_000;

/** @throws {OperationalError} what the configuration names cannot be read or opened */
export const startGateway = async (
  config: GatewayConfig,
  store: Store,
  options: GatewayOptions,
): Promise<RunningGateway> => {
  const { clock, log } = options;
  const { region, limits } = config;
  const by = { store, clock, log, metrics: options.metrics };
  const metrics = createGatewayMetrics(options.metrics);
  const own = createTicketMemory();
  const remember =
    config.tickets.single_use === "process"
      ? own.remember
      : rememberInRegion({ ...by, own, region, gateway: config.gateway, warn: createStoreWarnings(by) });
  const keys = watchGatewayKeys(config, { ...options, remember });
  const tls = config.tls === null ? null : { certFile: config.tls.cert_file, keyFile: config.tls.key_file };
  const files = tls === null ? null : watchTlsFiles(tls, { ...by, lookEveryMs: CERTIFICATE_LOOK_MS });
  const replicas = options.replicasOf(keys);
  const [drain, refusals] = [createDrain(region, by), createRefusals(region, by)];
  const [origins, roundTrips] = [createOrigins(config.trusted_proxies), createRoundTrips(clock)];
  const clients = createClients(metrics);
  const [engines, regions] = [engineAgent(config), regionAgent(config)];
  const handle = createGateway({
    region,
    paths: config.paths,
    siteOf: siteFinder(config),
    identify: createIdentify(keys.labels, region, config.pools),
    opener: keys.opener,
    homeOf: createHomes(store, options.metrics),
    body: { replayBytes: limits.replay, mostBytes: limits.body, idleMs: limits.body_idle, gatherMs: GATHER_MS },
    engineIdleMs: limits.engine_idle,
    readerIdleMs: limits.reader_idle,
    ...{ replicas, refusals, drain, origins, roundTrips, engines, regions, clock, metrics },
  });

  await replicas.start();
  await drain.start();
  const doors = await openDoors(config, { files, handle, clients, origins, roundTrips, metrics, log });

  const letTurnsEnd = async (): Promise<void> => {
    drain.stopping("lingering");
    await sleep(config.drain.linger);
    drain.stopping("refusing");
    doors.refuseMore();
    const deadline = new AbortController();
    const late = sleep(config.drain.deadline - config.drain.linger, "late", { signal: deadline.signal }).catch(
      () => "",
    );
    const how = await Promise.race([clients.allEnded(), late]);
    deadline.abort();
    if (how !== "late") return;
    metrics.cutTurns.inc({}, clients.underWay());
    log.warn("gateway.stop.cut", { turns: clients.underWay(), deadlineMs: config.drain.deadline });
  };
  const stop = async (): Promise<void> => {
    log.info("gateway.draining", { region, turns: clients.underWay() });
    await letTurnsEnd();
    // First, so that streams that are cut end with an error event.
    await Promise.allSettled([engines.destroy(), regions.destroy()]);
    doors.close();
    await replicas.stop();
    await refusals.drained();
    await drain.stop();
    keys.stop();
    files?.stop();
  };
  let stopping: Promise<void> | null = null;
  return {
    addresses: doors.addresses,
    reasonsAgainst: () => reasonsAgainst(replicas, drain),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
};
