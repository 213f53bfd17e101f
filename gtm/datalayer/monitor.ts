/** Decides when the regions' silence is ours, and tells of every change of a region's health once. */

import { isSilenceOurs } from "#gtm/domain/health.ts";
import { type Freeze, type HeardReport, madeAtMs } from "#gtm/domain/heard-report.ts";
import type { Health, Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";

export type MonitorFacts = {
  readonly nowMs: number;
  /** Whether the store answers and has been read since it came back. */
  readonly isStoreUp: boolean;
  readonly reports: readonly HeardReport[];
};

export type Monitor = {
  /**
   * The spans in which ages stand still: while the store is away, and while over half of the regions that used to report have
   * been silent since about the same moment. Ages go on from where they stood as soon as neither holds.
   */
  readonly freezes: (facts: MonitorFacts) => readonly Freeze[];
  /** Logs what differs from the world seen before. */
  readonly look: (world: World) => void;
};

/** Older spans concern reports that have expired anyway. */
const MOST_SPANS = 32;

export const createMonitor = (options: { readonly log: Logger; readonly staleAfterMs: number }): Monitor => {
  const { log, staleAfterMs } = options;
  let spans: readonly Freeze[] = [];
  const seen = new Map<RegionId, Health>();

  return {
    freezes: ({ nowMs, isStoreUp, reports }) => {
      const cause = !isStoreUp
        ? "store-away"
        : isSilenceOurs(lastMadeAtMs(reports), nowMs, staleAfterMs)
          ? "silent-together"
          : null;
      const open = spans.at(-1)?.toMs === null ? spans.at(-1) : undefined;
      if (cause !== null && open === undefined) {
        spans = [...spans, { fromMs: nowMs, toMs: null }].slice(-MOST_SPANS);
        log.warn("ages.frozen", { cause });
      }
      if (cause === null && open !== undefined) {
        spans = [...spans.slice(0, -1), { fromMs: open.fromMs, toMs: nowMs }];
        log.info("ages.thawed", { frozenMs: Math.round(nowMs - open.fromMs) });
      }
      return spans;
    },
    look: (world) => {
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
