/** Decides when the regions' silence is ours, and tells of every change of a region's health once. */

import { isSilenceOurs } from "#gtm/domain/health.ts";
import { type Freeze, type HeardReport, madeAtMs } from "#gtm/domain/heard-report.ts";
import type { Health, Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import { type AgeSpans, createAgeSpans } from "./age-spans.ts";

export type MonitorFacts = {
  readonly nowMs: number;
  /** Whether the store answers and has been read since it came back. */
  readonly isStoreUp: boolean;
  readonly reports: readonly HeardReport[];
  /** Whose reports cannot be read, although the store answers otherwise. */
  readonly unread: ReadonlySet<RegionId>;
};

/** In which spans ages stood still, up to now. */
export type Freezes = {
  readonly all: readonly Freeze[];
  /** Of a region that could not be read at some time: these instead of `all`. */
  readonly byRegion: ReadonlyMap<RegionId, readonly Freeze[]>;
};

export type Monitor = {
  /**
   * Ages stand still while the store is away, and while over half of the regions that used to report have been silent since
   * about the same moment; a region's, while its reports cannot be read. They go on from where they stood afterwards.
   */
  readonly freezes: (facts: MonitorFacts) => Freezes;
  /** What is heard from now on was saved by an earlier process: until the store was read once, its age stands still. */
  readonly holdFromStart: () => void;
  /** Logs what differs from the world seen before. */
  readonly look: (world: World) => void;
};

/** @param options.staleAfterMs read anew each time: the policy may change */
export const createMonitor = (options: { readonly log: Logger; readonly staleAfterMs: number }): Monitor => {
  const { log } = options;
  let cause: string | null = null;
  const spansFrom = (before: readonly Freeze[]): AgeSpans =>
    createAgeSpans({
      before,
      onFrozen: () => log.warn("ages.frozen", { cause }),
      onThawed: (lastedMs) => log.info("ages.thawed", { frozenMs: Math.round(lastedMs) }),
    });
  let spans = spansFrom([]);
  let all: readonly Freeze[] = [];
  /** Told of as what is degraded, by name. */
  const regionSpans = new Map<RegionId, AgeSpans>();
  const seen = new Map<RegionId, Health>();

  return {
    freezes: ({ nowMs, isStoreUp, reports, unread }) => {
      const readable = reports.filter(({ report }) => !unread.has(report.region));
      cause = !isStoreUp
        ? "store-away"
        : isSilenceOurs(lastMadeAtMs(readable), nowMs, options.staleAfterMs)
          ? "silent-together"
          : null;
      for (const region of unread) {
        if (regionSpans.has(region)) continue;
        regionSpans.set(region, createAgeSpans({ before: all, onFrozen: () => {}, onThawed: () => {} }));
      }
      all = spans.look(cause !== null, nowMs);
      const byRegion = new Map(
        [...regionSpans].map(([region, own]) => [region, own.look(cause !== null || unread.has(region), nowMs)]),
      );
      return { all, byRegion };
    },
    holdFromStart: () => {
      all = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: null }];
      spans = spansFrom(all);
    },
    look: (world) => {
      // One that was taken out of the configuration and comes back is new.
      for (const id of seen.keys()) if (!world.regions.some((region) => region.id === id)) seen.delete(id);
      for (const region of world.regions) {
        const before = seen.get(region.id);
        if (before === region.health) continue;
        seen.set(region.id, region.health);
        tell(log, region, before ?? null);
      }
    },
  };
};

/** Of each region that ever reported, when its newest report was made. */
const lastMadeAtMs = (reports: readonly HeardReport[]): readonly number[] => {
  const last = new Map<RegionId, number>();
  for (const heard of reports) {
    const { region } = heard.report;
    last.set(region, Math.max(last.get(region) ?? Number.NEGATIVE_INFINITY, madeAtMs(heard)));
  }
  return [...last.values()];
};

const tell = (log: Logger, region: Region, from: Health | null): void => {
  const level = region.health === "healthy" || from === null ? "info" : "warn";
  log[level]("region.health", {
    region: region.id,
    from,
    to: region.health,
    reportAgeMs: region.reportAgeMs === null ? null : Math.round(region.reportAgeMs),
    isPartial: region.isPartial,
  });
};
