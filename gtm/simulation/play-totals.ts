/** What a play comes to, region by region and over time, beside the records of its turns. */
import { prefillMs } from "#gtm/domain/serving.ts";
import type { FleetRegion } from "./scenario.ts";
import type { ServingEvent } from "./serving/request.ts";

/** Sums over one time, of turns whose first token came in it. */
export type Work = {
  readonly turns: number;
  /** The replicas' time on prefill, not counting what decoding beside it costs. */
  readonly prefillMs: number;
  readonly computedTokens: number;
  readonly cachedTokens: number;
  /** What prefill would have taken without any cache: the load. */
  readonly noCachePrefillMs: number;
};

export type RegionTotals = Work & {
  readonly replicas: number;
  /** One for each `BUCKET_MS` from the beginning, warm-up included. */
  readonly overTime: readonly Work[];
};

export type PlayedTotals = {
  /** Of the whole play. */
  readonly events: number;
  readonly virtualMs: number;
  readonly asked: number;
  readonly served: number;
  readonly lost: number;
  /** Still under way when the play was broken off. */
  readonly unfinished: number;
  /** In the order of the fleet; sums are of the measured time. */
  readonly regions: readonly RegionTotals[];
};

export const BUCKET_MS = 30_000;

type Sums = { -readonly [key in keyof Work]: number };

const nothing = (): Sums => ({ turns: 0, prefillMs: 0, computedTokens: 0, cachedTokens: 0, noCachePrefillMs: 0 });

export type Tally = {
  readonly firstToken: (region: number, event: Extract<ServingEvent, { kind: "first-token" }>) => void;
  readonly totals: () => readonly RegionTotals[];
};

export const createTally = (
  fleet: readonly FleetRegion[],
  measured: { readonly fromMs: number; readonly toMs: number },
): Tally => {
  const sums = fleet.map(nothing);
  const overTime: Sums[][] = fleet.map(() => []);
  const add = (to: Sums | undefined, work: Work): void => {
    if (to === undefined) return;
    to.turns += work.turns;
    to.prefillMs += work.prefillMs;
    to.computedTokens += work.computedTokens;
    to.cachedTokens += work.cachedTokens;
    to.noCachePrefillMs += work.noCachePrefillMs;
  };
  return {
    firstToken: (region, { atMs, request, computedTokens, cachedTokens }) => {
      const speed = fleet[region]?.engine.speed;
      const buckets = overTime[region];
      if (speed === undefined || buckets === undefined) return;
      const { promptTokens } = request;
      const work = {
        turns: 1,
        prefillMs: prefillMs(speed, computedTokens, promptTokens),
        computedTokens,
        cachedTokens,
        noCachePrefillMs: prefillMs(speed, promptTokens, promptTokens),
      };
      if (atMs >= measured.fromMs && atMs < measured.toMs) add(sums[region], work);
      const at = Math.floor(atMs / BUCKET_MS);
      while (buckets.length <= at) buckets.push(nothing());
      add(buckets[at], work);
    },
    totals: () =>
      fleet.map(({ replicas }, region) => ({
        ...(sums[region] ?? nothing()),
        replicas,
        overTime: overTime[region] ?? [],
      })),
  };
};
