/** The composition root: every part of the GTM made, connected, and started in order. */

import { createDecisionMetrics } from "#gtm/datalayer/decision-metrics.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { createMetricsServer } from "#gtm/wire/admin/metrics-server.ts";
import { createAdmin } from "#gtm/wire/admin/server.ts";
import { DEFAULT_LIMITS as HTTP_LIMITS } from "#gtm/wire/http/limits.ts";
import { createFrontDoor } from "#gtm/wire/http/server.ts";
import type { Clock } from "#shared/clock.ts";
import { createLifecycle, type Part } from "#shared/lifecycle.ts";
import { tagOf } from "#shared/pin-token.ts";
import type { Store } from "#shared/store.ts";
import type { Address, GtmConfig } from "./config.ts";
import { createDecisionIds } from "./decision-id.ts";
import { createHealthWatch } from "./health.ts";
import { createStandingKeys } from "./keys/standing-keys.ts";
import { createRecorder } from "./recorder.ts";
import { createData, type GtmOptions } from "./start-data.ts";
import { createDns } from "./start-dns.ts";
import { VERSION } from "./version.ts";

export type Gtm = {
  readonly addresses: () => {
    readonly dns: readonly Address[];
    readonly http: Address;
    readonly admin: Address;
    readonly metrics: Address;
  };
  /** Reads the key files again, at once. */
  readonly reloadKeys: () => void;
  /** Answers what was accepted, then ends; within the deadline. */
  readonly stop: () => Promise<void>;
};

/** A conversation that is not in memory may be looked up for so long; then the answer goes out without it. */
const FIND_WITHIN_MS = { http: 50, dns: 10 } as const;
const STOP_DEADLINE_MS = 10_000;
/** Accepted requests may take so long to end; what is left of the deadline is for the other parts. */
const HTTP_STOP_MS = 8_000;

/** @throws {OperationalError} when a part does not start; those before it are stopped again */
export const startGtm = async (config: GtmConfig, store: Store, options: GtmOptions): Promise<Gtm> => {
  const gtm = createGtm(config, store, options);
  await gtm.start();
  return gtm;
};

/** Nothing runs before `start`. */
export const createGtm = (
  config: GtmConfig,
  store: Store,
  options: GtmOptions,
): Gtm & { readonly start: () => Promise<void> } => {
  const { clock, log, metrics } = options;
  const { sites, models, pools, policy, instance, dns, http } = config;
  const regions = sites.map(({ id }) => id);
  const newId = createDecisionIds(clock);
  const keys = createStandingKeys({ files: config.keys, regions, log, metrics });
  const { labels } = keys;

  // The data: what is known, and who keeps it.
  const data = createData(config, store, keys, options);
  const { geoip, cells, operators, challenges, conversations, agreement, source, decisions, degradations } = data;
  const watch = createHealthWatch({ degradations, savedWorldAgeMs: source.savedAgeMs });

  // The decision: one flow, whoever asks.
  const recorderAt = (at: Pick<Clock, "monotonicMs">) =>
    createRecorder({
      source,
      conversations,
      learning: data.learning,
      decisions,
      cells,
      count: createDecisionMetrics(metrics, at),
      log,
      metrics,
    });
  const record = recorderAt(clock);
  const portsOf = (deadlineMs: number): Ports => ({
    world: source.world,
    locate: geoip.locate,
    findConversation: (id) => conversations.find(id, deadlineMs),
    record,
  });
  const httpPorts = portsOf(FIND_WITHIN_MS.http);
  const dnsPorts = portsOf(FIND_WITHIN_MS.dns);

  // The wires: how it is asked and answered.
  const dnsServer = createDns({ ...{ config, data, keys, recorderAt, newId, clock, log, metrics }, ports: dnsPorts });
  const frontDoor = createFrontDoor({
    ...http,
    ...{
      zoneName: dns.zone.name,
      regions,
      pools,
      models,
      labels,
      newId,
      clock,
      log,
      metrics,
      limits: { ...HTTP_LIMITS, stopMs: HTTP_STOP_MS },
    },
    steer: createSteer(httpPorts, policy),
    world: source.world,
    findResponse: (response) => data.responses.find(response, FIND_WITHIN_MS.http),
    gateways: new Set(sites.filter(({ hasGateway }) => hasGateway).map(({ id }) => id)),
    ticketSealer: keys.ticketSealer,
  });
  const admin = createAdmin({
    ...config.admin,
    ...{ clock, log, metrics },
    ports: {
      ...{ policy, pools, models, decisions, conversations, instance },
      instances: agreement,
      agents: source.agents,
      steering: httpPorts,
      orders: operators,
      acme: challenges,
      audit: data.audit,
      measuredTurns: data.measuredTurns,
      readLabel: (label) => {
        const read = labels.read(label);
        const region = read.kind === "ours" ? regions.find((id) => tagOf(id) === read.regionTag) : undefined;
        return { conversation: read.conversation, pinnedTo: region ?? null };
      },
      newDecisionId: newId,
      health: watch.health,
      version: VERSION,
    },
  });
  const metricsServer = createMetricsServer({ ...config.metrics, metrics, health: watch.health, log });

  const parts: readonly Part[] = [
    // First and last: people look while it starts and while it stops.
    metricsServer,
    keys,
    geoip,
    // Read before the store is asked, written after everything that it holds has stopped.
    data.worldFile,
    operators,
    challenges,
    conversations,
    decisions,
    source,
    data.learning,
    data.learntStore,
    data.turns,
    data.probes,
    dnsServer,
    frontDoor,
    admin,
  ];
  const lifecycle = createLifecycle(parts, { log, stopDeadlineMs: STOP_DEADLINE_MS });
  return {
    start: async () => {
      await lifecycle.start();
      watch.started();
    },
    stop: async () => {
      watch.stopping();
      await lifecycle.stop();
    },
    reloadKeys: keys.reload,
    addresses: () => ({
      dns: dnsServer.addresses(),
      http: frontDoor.address(),
      admin: admin.address(),
      metrics: metricsServer.address(),
    }),
  };
};
