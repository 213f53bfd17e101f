/** The last quarter of an hour in short: what was decided, how turns went, and since when regions are as they are. */
import { regionOf, type Verdict } from "#gtm/domain/decision.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import { type RegionChange, regionChanges } from "./region-changes.ts";

export const BUCKET_MS = 10_000;
const BUCKETS = 90;
/** Past three seconds to the first token people leave. */
export const PATIENCE_MS = 3_000;
/** The newest changes of regions that are told. */
const MOST_CHANGES = 50;
/** Client areas of the matrix; of more the least asked for are left out. */
const MOST_AREAS = 2_000;

export type TurnsOfRegion = { turns: number; overThreeSeconds: number; failed: number };
export type Bucket = {
  /** Unix epoch. */
  readonly fromMs: number;
  readonly verdicts: Partial<Record<Verdict["kind"], number>>;
  readonly regions: Map<RegionId, TurnsOfRegion>;
};
export type AreaCount = { readonly area: string; readonly region: RegionId | null; count: number };
export type SeenChange = RegionChange & { readonly atMs: number };

export type Recent = {
  readonly decided: (entry: Entry) => void;
  readonly measured: (turns: readonly MeasuredTurn[]) => void;
  /** Compares the world with the one seen last. */
  readonly look: () => void;
  /** Oldest first; the last one is not over yet. */
  readonly buckets: () => readonly Bucket[];
  /** Decisions of the quarter of an hour by client area and region, most first. */
  readonly areas: () => readonly AreaCount[];
  /** Newest first. */
  readonly changes: () => readonly SeenChange[];
  /** Since when a region's health and orders are as they are, Unix epoch; at the earliest when this began to look. */
  readonly since: (region: RegionId) => { readonly healthMs: number; readonly adminMs: number };
};

type Parts = { readonly world: () => World; readonly clock: Pick<Clock, "epochMs"> };

export const createRecent = ({ world, clock }: Parts): Recent => {
  const beganMs = clock.epochMs();
  let buckets: Bucket[] = [];
  let areas = new Map<string, AreaCount>();
  let seen = world();
  const changes: SeenChange[] = [];
  const healthMs = new Map<RegionId, number>();
  const adminMs = new Map<RegionId, number>();

  const current = (): Bucket => {
    const fromMs = Math.floor(clock.epochMs() / BUCKET_MS) * BUCKET_MS;
    const last = buckets.at(-1);
    // A clock that was set back goes on in the bucket that there is.
    if (last !== undefined && last.fromMs >= fromMs) return last;
    const made: Bucket = { fromMs, verdicts: {}, regions: new Map() };
    buckets = [...buckets.filter((one) => one.fromMs > fromMs - BUCKETS * BUCKET_MS), made];
    areas = fading(areas);
    return made;
  };
  const countArea = (area: string, region: RegionId | null): void => {
    const key = `${area}\u0000${region ?? ""}`;
    const known = areas.get(key);
    if (known !== undefined) known.count += 1;
    else if (areas.size < MOST_AREAS) areas.set(key, { area, region, count: 1 });
  };

  return {
    decided: ({ query, decision }) => {
      if (query.channel === "explain" || query.channel === "simulation") return;
      const { verdicts } = current();
      const { kind } = decision.verdict;
      verdicts[kind] = (verdicts[kind] ?? 0) + 1;
      countArea(decision.turn.client.place ?? decision.turn.client.area ?? "unknown", regionOf(decision.verdict));
    },
    measured: (turns) => {
      const { regions } = current();
      for (const { region, ttftMs, outcome } of turns) {
        const sum = regions.get(region) ?? { turns: 0, overThreeSeconds: 0, failed: 0 };
        regions.set(region, sum);
        sum.turns += 1;
        if (ttftMs !== null && ttftMs > PATIENCE_MS) sum.overThreeSeconds += 1;
        if (outcome === "failed") sum.failed += 1;
      }
    },
    look: () => {
      const now = world();
      const atMs = clock.epochMs();
      for (const change of regionChanges(seen, now)) {
        changes.unshift({ ...change, atMs });
        changes.length = Math.min(changes.length, MOST_CHANGES);
      }
      note(seen, now, atMs, { healthMs, adminMs });
      seen = now;
    },
    buckets: () => {
      current();
      return buckets;
    },
    areas: () => [...areas.values()].sort((a, b) => b.count - a.count || (a.area < b.area ? -1 : 1)),
    changes: () => changes,
    since: (region) => ({ healthMs: healthMs.get(region) ?? beganMs, adminMs: adminMs.get(region) ?? beganMs }),
  };
};

type Since = { readonly healthMs: Map<RegionId, number>; readonly adminMs: Map<RegionId, number> };

const note = (before: World, now: World, atMs: number, { healthMs, adminMs }: Since): void => {
  const was = new Map<RegionId, Region>(before.regions.map((region) => [region.id, region]));
  for (const { id, health, admin } of now.regions) {
    const earlier = was.get(id);
    if (earlier !== undefined && earlier.health !== health) healthMs.set(id, atMs);
    if (earlier !== undefined && earlier.admin !== admin) adminMs.set(id, atMs);
  }
};

/** A ninetieth goes with each bucket, so that the matrix follows the quarter of an hour without keeping each decision. */
const fading = (areas: ReadonlyMap<string, AreaCount>): Map<string, AreaCount> =>
  new Map(
    [...areas].flatMap(([key, one]) => {
      const count = one.count * (1 - 1 / BUCKETS);
      return count < 0.5 ? [] : [[key, { ...one, count }] as const];
    }),
  );
