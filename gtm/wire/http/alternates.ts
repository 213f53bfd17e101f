/** Where a turn may go besides the region that was chosen for it: the next best, dearer from left to right. */
import type { Candidate, Decision } from "#gtm/domain/decision.ts";
import type { RegionId } from "#shared/ids.ts";

export type Alternate = { readonly region: RegionId; readonly origin: string };

/** As many as a turn may be handed on. */
const MOST = 2;

/** @param originOf a configured region's `endpoint.url` @param may whether a region can take the turn over, beside being able to serve */
export const alternatesOf = (
  { considered }: Decision,
  chosen: RegionId,
  originOf: (region: RegionId) => string,
  may: (region: RegionId) => boolean,
): readonly Alternate[] =>
  considered
    .filter((one): one is Candidate => one.kind === "candidate" && one.region !== chosen && may(one.region))
    .toSorted((a, b) => a.cost.totalMs - b.cost.totalMs || (a.region < b.region ? -1 : 1))
    .slice(0, MOST)
    .map(({ region }) => ({ region, origin: originOf(region) }));

/** Milliseconds until the first token; null: nothing is known, as where a last resort serves. */
export const predictedTtftMsOf = ({ considered }: Decision, region: RegionId): number | null => {
  const found = considered.find((one) => one.region === region);
  return found?.kind === "candidate" ? found.cost.predictedTtftMs : null;
};
