/** What probes and reports together say of a region. Unknown is not down. */
import type { Health } from "./region.ts";

/** What the active probe of a region has found since the process started; absent before its first result. */
export type ProbeFact = {
  readonly isDown: boolean;
  readonly failedInARow: number;
  readonly goodInARow: number;
};

export type ProbeThresholds = {
  /** Failures in a row that make it down. */
  readonly fall: number;
  /** Good ones in a row that bring it back. */
  readonly rise: number;
};

/** Counts one more result. @param before null: this is the first */
export const probedOnce = (before: ProbeFact | null, isGood: boolean, thresholds: ProbeThresholds): ProbeFact => {
  const failedInARow = isGood ? 0 : (before?.failedInARow ?? 0) + 1;
  const goodInARow = isGood ? (before?.goodInARow ?? 0) + 1 : 0;
  const wasDown = before?.isDown ?? false;
  return {
    isDown: wasDown ? goodInARow < thresholds.rise : failedInARow >= thresholds.fall,
    failedInARow,
    goodInARow,
  };
};

/** From this share of a KV cache in use on, new requests wait for memory. */
export const KV_CACHE_FULL_FRACTION = 0.95;

export type HealthFacts = {
  /** null: not probed, or no result yet. */
  readonly probe: ProbeFact | null;
  /** Frozen while the silence is ours; null: never reported. */
  readonly reportAgeMs: number | null;
  /** An agent that used to report is missing. */
  readonly isPartial: boolean;
  /** The fullest of the region's placements; null: unknown. */
  readonly kvCacheUsedFraction: number | null;
};

/** In this order: unhealthy (the probe found it down), silent (no report, or an expired one), degraded, healthy. */
export const healthOf = (
  facts: HealthFacts,
  policy: { readonly staleAfterMs: number; readonly expiredAfterMs: number },
): Health => {
  const { probe, reportAgeMs } = facts;
  if (probe?.isDown === true) return "unhealthy";
  if (reportAgeMs === null || reportAgeMs > policy.expiredAfterMs) return "silent";
  const isDegraded =
    reportAgeMs > policy.staleAfterMs ||
    facts.isPartial ||
    (probe?.failedInARow ?? 0) > 0 ||
    (facts.kvCacheUsedFraction ?? 0) >= KV_CACHE_FULL_FRACTION;
  return isDegraded ? "degraded" : "healthy";
};

/** Regions that fall silent this close together fell silent for one reason, and that is us. */
const TOGETHER_MS = 2_000;

/**
 * Whether over half of the regions that used to report fell silent within 2 s: then their silence is ours. Of one region
 * that is always so: only its probe takes it out of service, since there is no other to turn to.
 *
 * @param lastMadeAtMs for each region that ever reported, when its newest report was made; monotonic ms
 * @param silentAfterMs how long after its report a region counts as silent
 */
export const isSilenceOurs = (lastMadeAtMs: readonly number[], nowMs: number, silentAfterMs: number): boolean => {
  const silent = lastMadeAtMs.filter((atMs) => nowMs - atMs > silentAfterMs).sort((a, b) => a - b);
  const needed = Math.floor(lastMadeAtMs.length / 2) + 1;
  for (let first = 0; first + needed <= silent.length; first++) {
    const from = silent[first] ?? 0;
    const to = silent[first + needed - 1] ?? Number.POSITIVE_INFINITY;
    if (to - from <= TOGETHER_MS) return true;
  }
  return false;
};
