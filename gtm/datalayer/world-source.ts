/** Keeps the world that decisions read: a new one on every report, order and probe result, and at least ten a second. */

import type { ProbeFact } from "#gtm/domain/health.ts";
import { madeAtMs } from "#gtm/domain/heard-report.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { AdminState, RegionSite } from "#gtm/domain/region.ts";
import type { AssemblyPolicy } from "#gtm/domain/region-assembly.ts";
import type { Send } from "#gtm/domain/serving.ts";
import { type OverrideRule, type World, withSend } from "#gtm/domain/world.ts";
import { assembleWorld, type LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Clock } from "#shared/clock.ts";
import type { InstanceId, ModelId, RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { CellRegions } from "./cell-regions.ts";
import { createMonitor } from "./monitor.ts";
import { createReports, type ReportKeys } from "./reports.ts";
import { createSent } from "./sent.ts";
import type { StoreFailures } from "./store-failures.ts";
import { createWorldMetrics } from "./world-metrics.ts";

export type WorldSourceOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly instance: InstanceId;
  readonly sites: readonly RegionSite[];
  readonly models: readonly Model[];
  readonly policy: AssemblyPolicy;
  readonly reportKeys: ReportKeys;
  readonly probes: () => ReadonlyMap<RegionId, ProbeFact>;
  readonly admin: () => ReadonlyMap<RegionId, AdminState>;
  readonly overrides: () => readonly OverrideRule[];
  /** What this instance's own conversations keep alive in the regions' caches. */
  readonly live: () => readonly LiveTokens[];
  readonly cells: CellRegions;
};

export type WorldSource = Part & {
  /** Also before `start`: a world in which nothing has been heard. */
  readonly world: () => World;
  /** A turn was sent to a region: from now on every decision knows of it. */
  readonly send: (region: RegionId, model: ModelId, send: Send) => void;
  /** An order, an override or a probe's result changed: a new world comes with this turn of the event loop. */
  readonly touch: () => void;
};

const WORLD_EVERY_MS = 100;
const SYNC_EVERY_MS = 200;
/** What a lost announcement costs at most. */
const RESYNC_EVERY_MS = 2_000;

export const createWorldSource = (options: WorldSourceOptions): WorldSource => {
  const { store, clock, log, metrics, policy, sites, models } = options;
  const monitor = createMonitor({ log, staleAfterMs: policy.staleAfterMs });
  const gauges = createWorldMetrics(metrics);
  const timers: NodeJS.Timeout[] = [];
  let isPublishing = false;
  // Nothing is known against the store before it was asked.
  let isSynced = true;
  let isSyncing: Promise<void> | null = null;
  let resyncedAtMs = Number.NEGATIVE_INFINITY;

  const touch = (): void => {
    if (isPublishing) return;
    isPublishing = true;
    setImmediate(publish);
  };
  const reports = createReports({
    ...{ store, clock, log, metrics, reportKeys: options.reportKeys, expiredAfterMs: policy.expiredAfterMs },
    regions: sites.map(({ id }) => id),
    onHeard: touch,
    onFailed: (cause) => options.failures("report.read", cause),
  });
  const sent = createSent({
    ...{ store, clock, instance: options.instance, ownLive: options.live, cells: options.cells },
    reportedSinceMs: (region) => oldestMs(region),
    onRefused: (instance, detail) => log.warn("sent.refused", { instance, detail }),
  });
  const oldestMs = (region: RegionId): number | null => {
    let oldest: number | null = null;
    for (const heard of reports.heard()) {
      const atMs = madeAtMs(heard);
      const isLive = clock.monotonicMs() - atMs <= policy.expiredAfterMs;
      if (heard.report.region === region && isLive && (oldest === null || atMs < oldest)) oldest = atMs;
    }
    return oldest;
  };

  const take = (previous: World | null): World => {
    const nowMs = clock.monotonicMs();
    const isStoreUp = isSynced && store.isUp();
    const heard = reports.heard();
    return assembleWorld({
      ...{ previous, nowMs, sites, models, policy, isStoreUp, reports: heard },
      regionsWithAbsentAgents: reports.regionsWithAbsentAgents(),
      probes: options.probes(),
      freezes: monitor.freezes({ nowMs, isStoreUp, reports: heard }),
      admin: options.admin(),
      overrides: options.overrides(),
      sends: sent.sends(),
      live: sent.live(),
      // Learnt by a gateway from cached tokens; until one says so, the prior holds.
      heldCorrections: [],
    });
  };
  let world: World | null = null;
  const current = (): World => {
    world ??= take(null);
    return world;
  };
  const publish = (): void => {
    isPublishing = false;
    const before = current();
    world = take(before);
    monitor.look(world);
    gauges.look(world, before);
  };

  const syncOnce = async (): Promise<void> => {
    const wasSynced = isSynced;
    try {
      await sent.sync();
      const nowMs = clock.monotonicMs();
      if (!wasSynced || nowMs - resyncedAtMs >= RESYNC_EVERY_MS) {
        await reports.resync();
        resyncedAtMs = nowMs;
      }
      isSynced = true;
    } catch (cause) {
      isSynced = false;
      options.failures("world.sync", cause);
    }
    if (wasSynced === isSynced) return;
    log[isSynced ? "info" : "warn"](isSynced ? "store.reached" : "store.away");
    touch();
  };
  const sync = (): Promise<void> => {
    isSyncing ??= syncOnce().finally(() => {
      isSyncing = null;
    });
    return isSyncing;
  };

  return {
    name: "world",
    world: current,
    touch,
    send: (region, model, send) => {
      sent.add({ region, model, send });
      world = withSend(current(), region, model, send);
    },
    start: async () => {
      await sync();
      publish();
      timers.push(
        setInterval(publish, WORLD_EVERY_MS),
        setInterval(() => void sync(), SYNC_EVERY_MS),
      );
      for (const timer of timers) timer.unref();
    },
    stop: async () => {
      for (const timer of timers.splice(0)) clearInterval(timer);
      await isSyncing;
      await reports.stop();
    },
  };
};
