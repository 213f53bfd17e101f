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
      const oldest = new Map<RegionId, number>();
      const oldestOf = (region: RegionId): number => {
        const standing = oldest.get(region);
        if (standing !== undefined) return standing;
        const made = Math.max(nowMs - KEPT_MS, (reportedSinceMs(region) ?? Number.NEGATIVE_INFINITY) - SLACK_MS);
        oldest.set(region, made);
        return made;
      };
      own = own.filter(({ region, send }) => send.arrivalAtMs > oldestOf(region));
      return own;
    },
  };
};
