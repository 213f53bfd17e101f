/** What turns teach of pools, kept by region so that no region speaks for all: lengths of answers, follow-ups, reuse. */

import type { PoolName, RegionId } from "#shared/ids.ts";
import {
  type FollowUps,
  maturedAt,
  NEXT_TURN_HABIT,
  NO_FOLLOW_UPS,
  nextTurnFractionOf,
  REUSE_HABIT,
  reuseFractionOf,
  reuseObserved,
  withFollowUp,
  withTurn,
} from "./follow-ups.ts";
import type { LearntOfPool } from "./learnt.ts";
import {
  OUTPUT_HABIT,
  outputObserved,
  outputTokensOf,
  PROMPT_SIZE_CLASSES,
  promptSizeClass,
} from "./output-lengths.ts";
import { createTallies } from "./tallies.ts";
import { fadedTo, type Observed } from "./tally.ts";

export type PoolPriors = {
  readonly pinMs: number;
  readonly assumedOutputTokens: number;
  readonly nextTurnFraction: number;
  readonly reuseFraction: number;
};

export type LearntPools = {
  readonly turn: (pool: PoolName, region: RegionId, atMs: number) => void;
  /** @param atMs of the turn that was followed */
  readonly followUp: (pool: PoolName, region: RegionId, atMs: number) => void;
  readonly answer: (pool: PoolName, region: RegionId, promptTokens: number, completionTokens: number) => void;
  readonly reuse: (pool: PoolName, region: RegionId, heldTokens: number, cachedTokens: number) => void;
  readonly fold: (nowMs: number) => void;
  readonly known: (nowMs: number) => ReadonlyMap<PoolName, LearntOfPool>;
  /** For another process that begins. */
  readonly saved: (nowMs: number) => readonly SavedTally[];
  readonly seed: (saved: readonly SavedTally[], nowMs: number) => void;
  /** Other pools and regions are configured; what was learnt of those that stay stands, and of the others is told no more. */
  readonly configure: (pools: readonly PoolName[], regions: readonly RegionId[]) => void;
};

/** @param what `output/CLASS`, `reuse` or `next` */
export type SavedTally = { readonly pool: string; readonly region: string; readonly what: string } & Observed;

/**
 * @param configuredPools @param configuredRegions there are as many tallies as they make, and no more
 * @param priors read anew each time
 */
export const createLearntPools = (
  configuredPools: readonly PoolName[],
  configuredRegions: readonly RegionId[],
  priors: PoolPriors,
): LearntPools => {
  let pools = configuredPools;
  let regions = configuredRegions;
  const outputs = createTallies(OUTPUT_HABIT);
  const reuses = createTallies(REUSE_HABIT);
  const followUps = new Map<string, FollowUps>();
  const keyOf = (pool: string, region: string): string => `${pool}/${region}`;
  const classKey = (pool: string, region: string, sizeClass: number): string => `${pool}/${region}/${sizeClass}`;
  const change = (pool: PoolName, region: RegionId, next: (before: FollowUps) => FollowUps): void => {
    const key = keyOf(pool, region);
    followUps.set(key, next(followUps.get(key) ?? NO_FOLLOW_UPS));
  };
  /** Each pool is asked for again each second. */
  const keysOfAll = () =>
    new Map(
      pools.map((pool) => {
        const classes = Array.from({ length: PROMPT_SIZE_CLASSES }, (_, sizeClass) =>
          regions.map((region) => classKey(pool, region, sizeClass)),
        );
        return [pool, { classes, regions: regions.map((region) => keyOf(pool, region)) }] as const;
      }),
    );
  let keys = keysOfAll();
  const ofPool = (pool: PoolName, nowMs: number): LearntOfPool => {
    const of = keys.get(pool);
    return {
      outputTokens: (of?.classes ?? []).map((inClass) =>
        outputTokensOf(
          inClass.map((key) => outputs.at(key, nowMs)),
          priors.assumedOutputTokens,
        ),
      ),
      nextTurnFraction: nextTurnFractionOf(
        (of?.regions ?? []).map((key) => followUps.get(key) ?? NO_FOLLOW_UPS),
        priors.nextTurnFraction,
        nowMs,
      ),
      reuseFraction: reuseFractionOf(
        (of?.regions ?? []).map((key) => reuses.at(key, nowMs)),
        priors.reuseFraction,
      ),
    };
  };
  const seedOne = (pool: PoolName, region: RegionId, { what, weight, sum }: SavedTally, nowMs: number): void => {
    const sizeClass = /^output\/(\d)$/.exec(what)?.[1];
    if (sizeClass !== undefined) outputs.seed(classKey(pool, region, Number(sizeClass)), { weight, sum }, nowMs);
    if (what === "reuse") reuses.seed(keyOf(pool, region), { weight, sum }, nowMs);
    if (what !== "next") return;
    change(pool, region, (before) =>
      weight > nextOf(before, nowMs).weight ? { ...before, known: { weight, sum, atMs: nowMs } } : before,
    );
  };

  return {
    turn: (pool, region, atMs) => change(pool, region, (before) => withTurn(before, atMs)),
    followUp: (pool, region, atMs) => change(pool, region, (before) => withFollowUp(before, atMs)),
    answer: (pool, region, promptTokens, completionTokens) =>
      outputs.observe(classKey(pool, region, promptSizeClass(promptTokens)), outputObserved(completionTokens)),
    reuse: (pool, region, heldTokens, cachedTokens) =>
      reuses.observe(keyOf(pool, region), reuseObserved(heldTokens, cachedTokens)),
    fold: (nowMs) => {
      outputs.fold(nowMs);
      reuses.fold(nowMs);
      for (const [key, one] of followUps) followUps.set(key, maturedAt(one, nowMs, priors.pinMs));
    },
    configure: (wantedPools, wantedRegions) => {
      pools = wantedPools;
      regions = wantedRegions;
      keys = keysOfAll();
    },
    known: (nowMs) => new Map(pools.map((pool) => [pool, ofPool(pool, nowMs)])),
    saved: (nowMs) =>
      pools
        .flatMap((pool) =>
          regions.flatMap((region) => [
            ...Array.from({ length: PROMPT_SIZE_CLASSES }, (_, at) => ({
              ...{ pool, region, what: `output/${at}` },
              ...observedOf(outputs.at(classKey(pool, region, at), nowMs)),
            })),
            { pool, region, what: "reuse", ...observedOf(reuses.at(keyOf(pool, region), nowMs)) },
            { pool, region, what: "next", ...nextOf(followUps.get(keyOf(pool, region)), nowMs) },
          ]),
        )
        .filter(({ weight }) => weight > 0),
    seed: (saved, nowMs) => {
      for (const one of saved) {
        const pool = pools.find((name) => name === one.pool);
        const region = regions.find((id) => id === one.region);
        if (pool !== undefined && region !== undefined) seedOne(pool, region, one, nowMs);
      }
    },
  };
};

const observedOf = (tally: Observed | null): Observed => ({ weight: tally?.weight ?? 0, sum: tally?.sum ?? 0 });

const nextOf = (one: FollowUps | undefined, nowMs: number): Observed =>
  observedOf(one === undefined ? null : fadedTo(one.known, nowMs, NEXT_TURN_HABIT));
