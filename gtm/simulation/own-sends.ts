/** Turns that a GTM has sent and that no report can know of yet. */
import type { SendTo } from "#gtm/domain/sends.ts";
import type { RegionId } from "#shared/ids.ts";

export type OwnSends = {
  readonly add: (send: SendTo) => void;
  readonly kept: (nowMs: number) => readonly SendTo[];
};

/** As production keeps them: no longer than a report counts, and a little longer than the newest one of the region. */
const KEPT_MS = 30_000;
const SLACK_MS = 2_500;

/** @param reportedSinceMs when the region's newest report was made; null: it never reported */
export const createOwnSends = (reportedSinceMs: (region: RegionId) => number | null): OwnSends => {
  let own: SendTo[] = [];
  return {
    add: (send) => void own.push(send),
    kept: (nowMs) => {
      const kept: SendTo[] = [];
      for (const one of own) {
        const { region, send } = one;
        const reportedMs = reportedSinceMs(region) ?? Number.NEGATIVE_INFINITY;
        if (send.arrivalAtMs > Math.max(nowMs - KEPT_MS, reportedMs - SLACK_MS)) kept.push(one);
      }
      own = kept;
      // Whoever is told of them is not told of those that come later.
      return kept.slice();
    },
  };
};
