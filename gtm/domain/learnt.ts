/** What turns have taught, as decisions read it: one immutable part of the world, replaced whole. */
import type { ModelId, PoolName, RegionId } from "#shared/ids.ts";
import { promptSizeClass } from "./output-lengths.ts";
import type { Tally } from "./tally.ts";

/** null: not enough was seen, and the policy's prior holds. */
export type LearntOfPool = {
  /** Tokens of an answer, by class of prompt size. */
  readonly outputTokens: readonly (number | null)[];
  /** pNext: share of turns that are followed by another within the pin's time. */
  readonly nextTurnFraction: number | null;
  /** Share of a held context that follow-ups reuse. */
  readonly reuseFraction: number | null;
};

/** Cached tokens seen against those that the ledger promised, before any correction. */
export type HeldObserved = { readonly region: RegionId; readonly model: ModelId; readonly tally: Tally };

export type Learnt = {
  readonly pools: ReadonlyMap<PoolName, LearntOfPool>;
  /** Measured round trips, ms, by client network (CIDR) and region. */
  readonly roundTrips: ReadonlyMap<string, ReadonlyMap<RegionId, number>>;
};

export const NOTHING_LEARNT: Learnt = { pools: new Map(), roundTrips: new Map() };

/** @param promptTokens null: unknown, and then nothing is known of the answer. @returns null: the prior holds */
export const learntOutputTokens = (learnt: Learnt, pool: PoolName, promptTokens: number | null): number | null =>
  promptTokens === null ? null : (learnt.pools.get(pool)?.outputTokens[promptSizeClass(promptTokens)] ?? null);
