/** What a turn would really meet in a region: the state that only the simulation knows, one decision ahead. */
import { createNearestRegion, tripsFor } from "../network.ts";
import type { Arena, Asked } from "../rival.ts";
import type { EngineRequest } from "../serving/request.ts";

export type TrueOffer = {
  readonly region: number;
  readonly replica: number;
  readonly networkMs: number;
  readonly arrivalAtMs: number;
  readonly queueMs: number;
  readonly cachedTokens: number;
  readonly workMs: number;
  readonly ttftMs: number;
};

export type Truth = {
  /** @throws {RangeError} when there is no such region */
  readonly offerOf: (turn: Asked, region: number) => TrueOffer;
  /** A turn is on its way there. */
  readonly sent: (offer: TrueOffer) => void;
};

export const createTruth = ({ agenda, scenario, regions }: Arena): Truth => {
  const nearest = createNearestRegion(scenario);
  /** A redirect has to come back to the client before it can leave for the region. */
  const leavesAfterMs = ({ city, lastMileMs }: Asked): number =>
    scenario.leading.kind === "redirect" ? (scenario.rttMs(city, nearest(city)) + lastMileMs) / 2 : 0;
  /** By region, those that have not arrived yet, in order of arrival. */
  const coming = regions.map((): TrueOffer[] => []);

  const backlogsAt = (region: number, arrivalAtMs: number): number[] => {
    const nowMs = agenda.nowMs();
    const still = (coming[region] ?? []).filter((offer) => offer.arrivalAtMs > nowMs);
    coming[region] = still;
    regions[region]?.catchUp(nowMs);
    const backlogs = (regions[region]?.replicas ?? []).map((replica) => replica.backlogMs());
    let atMs = nowMs;
    const drain = (untilMs: number): void => {
      for (const [i, backlogMs] of backlogs.entries()) backlogs[i] = Math.max(0, backlogMs - (untilMs - atMs));
      atMs = untilMs;
    };
    for (const offer of still) {
      if (offer.arrivalAtMs > arrivalAtMs) break;
      drain(offer.arrivalAtMs);
      backlogs[offer.replica] = (backlogs[offer.replica] ?? 0) + offer.workMs;
    }
    drain(arrivalAtMs);
    return backlogs;
  };

  return {
    offerOf: (turn, region) => {
      const rttMs = scenario.rttMs(turn.city, region) + turn.lastMileMs;
      const trips = tripsFor(turn.previous === region, turn.idleMs);
      const arrivalAtMs = agenda.nowMs() + leavesAfterMs(turn) + (trips - 0.5) * rttMs;
      const request = requestOf(turn);
      const backlogs = backlogsAt(region, arrivalAtMs);
      const options = (regions[region]?.replicas ?? []).map((replica, at) => {
        const cachedTokens = replica.cachedTokens(request);
        const workMs = replica.prefillMs(request, cachedTokens);
        return {
          replica: at,
          queueMs: backlogs[at] ?? 0,
          cachedTokens,
          workMs,
          wholeMs: replica.prefillMs(request, 0),
        };
      });
      const served = asRouted(options);
      const networkMs = trips * rttMs;
      const ttftMs = networkMs + served.queueMs + served.workMs;
      return { region, arrivalAtMs, networkMs, ttftMs, ...served };
    },
    sent: (offer) => {
      const list = coming[offer.region];
      list?.push(offer);
      list?.sort((a, b) => a.arrivalAtMs - b.arrivalAtMs);
    },
  };
};

type Option = {
  readonly replica: number;
  readonly queueMs: number;
  readonly cachedTokens: number;
  readonly workMs: number;
  readonly wholeMs: number;
};

/** As the region's own router chooses: the holder, unless the least loaded is sooner from zero. */
const asRouted = (options: readonly Option[]): Option => {
  const [first] = options;
  if (first === undefined) throw new RangeError("a region has at least one replica");
  const holder = options.reduce((best, one) =>
    one.cachedTokens > best.cachedTokens || (one.cachedTokens === best.cachedTokens && one.queueMs < best.queueMs)
      ? one
      : best,
  );
  const least = options.reduce((best, one) => (one.queueMs < best.queueMs ? one : best));
  return holder.queueMs + holder.workMs <= least.queueMs + least.wholeMs ? holder : least;
};

const requestOf = (turn: Asked): EngineRequest => ({
  id: 0,
  promptTokens: turn.promptTokens,
  outputTokens: turn.outputTokens,
  finishReason: "stop",
  blocks: turn.blocks,
});
