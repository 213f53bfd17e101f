/** Keeps the world that decisions read: a new one on every report, order and probe result, and at least ten a second. */

import { madeAtMs, reportAgeMs } from "#gtm/domain/heard-report.ts";
import type { Send } from "#gtm/domain/serving.ts";
import { type World, withSend } from "#gtm/domain/world.ts";
import { assembleWorld } from "#gtm/domain/world-assembly.ts";
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { AgentSeen } from "./agents-seen.ts";
import type { SavedReport } from "./kept-reports.ts";
import { createMonitor, type Freezes } from "./monitor.ts";
import { createReports } from "./reports.ts";
import { createSent } from "./sent.ts";
import { tellDegradations } from "./world-degradations.ts";
import { createWorldMetrics } from "./world-metrics.ts";
import type { WorldSourceOptions } from "./world-source-options.ts";
import { createWorldSync } from "./world-sync.ts";

export type WorldSource = Part & {
  /** Also before `start`: a world in which nothing has been heard. */
  readonly world: () => World;
  /** A turn was sent to a region: from now on every decision knows of it. */
  readonly send: (region: RegionId, model: ModelId, send: Send) => void;
  /** Calls the listener with every world that is published, but not with what a send makes of it. */
  readonly watch: (listener: (world: World) => void) => void;
  /** An order, an override or a probe's result changed: a new world comes with this turn of the event loop. */
  readonly touch: () => void;
  /** Regions, models or the policy are others now: when this returns, the world is made of them, and all cells are decided anew. */
  readonly settle: () => void;
  /** Before `start`: what an earlier process saved is as good as heard, until the store was reached. @returns how many were believed */
  readonly restore: (saved: readonly SavedReport[]) => number;
  /** How old the saved reports are that decisions rest on; null: on live ones, or on none. */
  readonly savedAgeMs: () => number | null;
  /** The newest report of every agent with its age, for the next process. */
  readonly saved: () => readonly Omit<SavedReport, "savedForMs">[];
  /** Every agent that was heard of, for people. */
  readonly agents: () => readonly AgentSeen[];
};

const WORLD_EVERY_MS = 100;
const SYNC_EVERY_MS = 200;

export const createWorldSource = (options: WorldSourceOptions): WorldSource => {
  const { store, clock, log, metrics } = options;
  const monitor = createMonitor({
    log,
    get staleAfterMs() {
      return options.policy.staleAfterMs;
    },
  });
  const gauges = createWorldMetrics(metrics);
  const timers: NodeJS.Timeout[] = [];
  const listeners: ((world: World) => void)[] = [];
  let isPublishing = false;
  let freezes: Freezes = { all: [], byRegion: new Map() };
  /** Of the saved reports that were restored; null: there were none, or the store was reached since. */
  let savedAtMs: number | null = null;

  const touch = (): void => {
    if (isPublishing) return;
    isPublishing = true;
    setImmediate(publish);
  };
  const reports = createReports({
    ...{ store, clock, log, metrics, reportKeys: options.reportKeys },
    get expiredAfterMs() {
      return options.policy.expiredAfterMs;
    },
    get regions() {
      return options.sites.map(({ id }) => id);
    },
    onHeard: touch,
    onFailed: (cause) => options.failures("report.read", cause),
  });
  const sent = createSent({
    ...{ store, clock, instance: options.instance, ownLive: options.live, cells: options.cells },
    agreement: options.agreement,
    reportedSinceMs: (region) => oldestMs(region),
    onForgotten: options.onWiped,
    onRefused: (instance, detail) => log.warn("sent.refused", { instance, detail }),
  });
  const savedAgeMs = (): number | null => (savedAtMs === null ? null : clock.monotonicMs() - savedAtMs);
  const synced = createWorldSync({
    ...{ store, clock, log, reports, sent, savedAgeMs, failures: options.failures, degradations: options.degradations },
    onChanged: touch,
  });
  const oldestMs = (region: RegionId): number | null => {
    let oldest: number | null = null;
    for (const heard of reports.heard()) {
      const atMs = madeAtMs(heard);
      const isLive = clock.monotonicMs() - atMs <= options.policy.expiredAfterMs;
      if (heard.report.region === region && isLive && (oldest === null || atMs < oldest)) oldest = atMs;
    }
    return oldest;
  };

  const freezesOf = (region: RegionId): Freezes["all"] => freezes.byRegion.get(region) ?? freezes.all;
  const take = (previous: World | null): World => {
    const { sites, models, policy } = options;
    const nowMs = clock.monotonicMs();
    const isStoreUp = synced.isStoreUp();
    if (isStoreUp) savedAtMs = null;
    const heard = reports.heard();
    freezes = monitor.freezes({ nowMs, isStoreUp, reports: heard, unread: reports.unread() });
    return assembleWorld({
      ...{ previous, nowMs, sites, models, policy, isStoreUp, reports: heard },
      epochAheadMs: clock.epochMs() - nowMs,
      regionsWithAbsentAgents: reports.regionsWithAbsentAgents(),
      probes: options.probes(),
      freezes: freezes.all,
      regionFreezes: freezes.byRegion,
      admin: options.admin(),
      overrides: options.overrides(),
      drains: options.drains(),
      sends: sent.sends(),
      live: sent.live(),
      heldObserved: options.learning.heldObserved(),
      learnt: options.learning.learnt(),
    });
  };
  let world: World | null = null;
  const current = (): World => {
    world ??= take(null);
    return world;
  };
  const publish = (): void => {
    isPublishing = false;
    replace(current());
  };
  /** @param before what the next one is made from, and compared with */
  const replace = (before: World): void => {
    world = take(before);
    monitor.look(world);
    gauges.look(world, before);
    tellDegradations(world, options.degradations);
    options.agreement.look(world, reports.heard());
    for (const listener of listeners) listener(world);
  };

  return {
    name: "world",
    world: current,
    watch: (listener) => {
      listeners.push(listener);
    },
    touch,
    settle: () => {
      reports.settle();
      const before = current();
      // What is answered may be another even where the same regions may serve.
      replace({ ...before, candidacyVersion: before.candidacyVersion + 1 });
    },
    send: (region, model, send) => {
      sent.add({ region, model, send });
      world = withSend(current(), region, model, send);
    },
    restore: (saved) => {
      const believed = saved.filter(reports.restore);
      if (believed.length === 0) return 0;
      savedAtMs = clock.monotonicMs() - Math.max(...believed.map(({ savedForMs }) => savedForMs));
      synced.doubt();
      monitor.holdFromStart();
      world = null;
      return believed.length;
    },
    savedAgeMs,
    saved: () => {
      const nowMs = clock.monotonicMs();
      return reports.heard().map((heard) => ({
        report: heard.report,
        ageMs: reportAgeMs(heard, nowMs, freezesOf(heard.report.region)),
      }));
    },
    agents: () => reports.agents(freezesOf),
    start: async () => {
      await synced.sync();
      publish();
      timers.push(
        setInterval(publish, WORLD_EVERY_MS),
        setInterval(() => void synced.sync(), SYNC_EVERY_MS),
      );
      for (const timer of timers) timer.unref();
    },
    stop: async () => {
      for (const timer of timers.splice(0)) clearInterval(timer);
      await synced.settled();
      await reports.stop();
    },
  };
};
