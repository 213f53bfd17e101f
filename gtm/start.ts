/** The composition root: every part of the GTM made, connected, and started in order. */

import { createDecisionMetrics } from "#gtm/datalayer/decision-metrics.ts";
import type { ReloadedBy } from "#gtm/wire/admin/configuration-port.ts";
import { createMetricsServer } from "#gtm/wire/admin/metrics-server.ts";
import { createSafety } from "#gtm/wire/admin/safety-port.ts";
import { type Admin, createAdmin } from "#gtm/wire/admin/server.ts";
import type { Clock } from "#shared/clock.ts";
import { createLifecycle, type Part } from "#shared/lifecycle.ts";
import { tagOf } from "#shared/pin-token.ts";
import type { Store } from "#shared/store.ts";
import { createChangeOver } from "./change-over.ts";
import type { Address, GtmConfig } from "./config.ts";
import { createDecisionIds } from "./decision-id.ts";
import { createGeneration } from "./generation.ts";
import { createHealthWatch } from "./health.ts";
import { createStandingKeys } from "./keys/standing-keys.ts";
import { createRecorder } from "./recorder.ts";
import { type ConfigFile, createReloader } from "./reload/reloader.ts";
import { createStandingSettings, onceOf } from "./standing-settings.ts";
import { createData, type GtmOptions } from "./start-data.ts";
import { createDns } from "./start-dns.ts";
import { createHttp } from "./start-http.ts";
import { createZones } from "./start-zones.ts";
import { VERSION } from "./version.ts";

export type Gtm = {
  readonly addresses: () => {
    readonly dns: readonly Address[];
    readonly http: Address;
    readonly admin: Address;
    readonly metrics: Address;
  };
  /** Reads the key files and the configuration's file again, at once; without a file only the keys'. */
  readonly reload: (by: ReloadedBy) => void;
  /**
   * Decides by another configuration from the moment it returns; what is under way ends by the one that it began with. What a
   * process cannot change (listeners, the store, the zone's name, threads, its own name) is as it was at start.
   *
   * @throws {OperationalError} it cannot be used: nothing has changed
   */
  readonly apply: (config: GtmConfig) => void;
  /** Answers what was accepted, then ends; within the deadline. */
  readonly stop: () => Promise<void>;
};

/** A conversation that is not in memory may be looked up for so long; then the answer goes out without it. */
const FIND_WITHIN_MS = { http: 50, dns: 10 } as const;
const STOP_DEADLINE_MS = 10_000;

export type StartOptions = GtmOptions & {
  /** Where the configuration was read from; absent: from nowhere that could change. */
  readonly file?: ConfigFile;
  /** The configuration has another level of the log. */
  readonly onLogLevel?: (level: GtmConfig["logLevel"]) => void;
};

/** @throws {OperationalError} when a part does not start; those before it are stopped again */
export const startGtm = async (config: GtmConfig, store: Store, options: StartOptions): Promise<Gtm> => {
  const gtm = createGtm(config, store, options);
  await gtm.start();
  return gtm;
};

/** Nothing runs before `start`. */
export const createGtm = (
  config: GtmConfig,
  store: Store,
  options: StartOptions,
): Gtm & { readonly start: () => Promise<void> } => {
  const { clock, log, metrics } = options;
  const settings = createStandingSettings(config, clock);
  const regionIds = onceOf(({ sites }: GtmConfig) => sites.map(({ id }) => id));
  const regions = () => regionIds(settings.now().config);
  const newId = createDecisionIds(clock);
  const keys = createStandingKeys({
    ...{ log, metrics },
    get files() {
      return settings.now().config.keys;
    },
    get regions() {
      return regions();
    },
  });
  const { labels } = keys;

  // The data: what is known, and who keeps it.
  const data = createData(settings, store, keys, options);
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
  const { find, refusedBy } = conversations;
  const begin = () => createGeneration({ world: source.world, locate: geoip.locate, find, refusedBy, record });
  const generation = begin();

  // The wires: how it is asked and answered.
  const wired = { config, data, keys, newId, clock, log, metrics };
  const dnsServer = createDns({ ...wired, recorderAt, ports: generation.portsWithin(FIND_WITHIN_MS.dns) });
  const frontDoor = createHttp({
    ...{ ...wired, findWithinMs: FIND_WITHIN_MS.http },
    ports: generation.portsWithin(FIND_WITHIN_MS.http),
  });
  const apply = createChangeOver({
    ...{ settings, begin, first: generation, settle: data.settle, onLogLevel: options.onLogLevel ?? (() => {}) },
    wires: [
      [dnsServer, FIND_WITHIN_MS.dns],
      [frontDoor, FIND_WITHIN_MS.http],
      [{ prepare: ({ admin: { auth } }) => admin.prepare(auth) }, FIND_WITHIN_MS.http],
    ],
  });
  const reloader = createReloader({
    ...{ config, clock, log, metrics, degradations, apply, file: options.file ?? null },
  });
  const admin: Admin = createAdmin({
    ...config.admin,
    ...{ clock, log, metrics },
    ports: {
      ...{ decisions, conversations, instance: config.instance },
      get policy() {
        return settings.now().config.policy;
      },
      get pools() {
        return settings.now().config.pools;
      },
      get models() {
        return settings.now().config.models;
      },
      configuration: reloader,
      policyAt: (monotonicMs) => settings.at(monotonicMs).config.policy,
      safety: createSafety(() => settings.now().config.safety, metrics),
      instances: agreement,
      agents: source.agents,
      zones: createZones({ config: () => settings.now().config, clock }),
      steering: begin().portsWithin(FIND_WITHIN_MS.http),
      orders: operators,
      acme: challenges,
      audit: data.audit,
      tokens: data.tokens,
      measuredTurns: data.measuredTurns,
      readLabel: (label) => {
        const read = labels.read(label);
        const region = read.kind === "ours" ? regions().find((id) => tagOf(id) === read.regionTag) : undefined;
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
    data.tokens,
    conversations,
    decisions,
    source,
    data.learning,
    data.learntStore,
    data.turns,
    data.probes,
    dnsServer,
    frontDoor,
    reloader,
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
    reload: (by) => {
      keys.reload();
      reloader.reload(by);
    },
    apply,
    addresses: () => ({
      dns: dnsServer.addresses(),
      http: frontDoor.address(),
      admin: admin.address(),
      metrics: metricsServer.address(),
    }),
  };
};
