/** The last quarter of an hour in short: what was decided, how turns went, and since when regions are as they are. */
import { regionOf, type Verdict } from "#gtm/domain/decision.ts";
import { LATE_FIRST_TOKEN_MS } from "#gtm/domain/late-first-token.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { Happening } from "./event-hub.ts";
import { createOverrideTouches, type OverrideTouches } from "./override-touches.ts";
import type { RegionChange } from "./region-changes.ts";

export const BUCKET_MS = 10_000;
const BUCKETS = 90;
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
  /** As the event hub tells it. */
  readonly happened: (happening: Happening) => void;
  readonly measured: (turns: readonly MeasuredTurn[]) => void;
  /** Oldest first; the last one is not over yet. */
  readonly buckets: () => readonly Bucket[];
  /** Decisions of the quarter of an hour by client area and region, most first. */
  readonly areas: () => readonly AreaCount[];
  /** Newest first. */
  readonly changes: () => readonly SeenChange[];
  /** What an override did in the last minute. */
  readonly touchedBy: OverrideTouches["of"];
  /** Since when a region's health and orders are as they are, Unix epoch; at the earliest when this began to look. */
  readonly since: (region: RegionId) => { readonly healthMs: number; readonly adminMs: number };
};

export const createRecent = (clock: Pick<Clock, "epochMs">): Recent => {
  const touches = createOverrideTouches(clock);
  const beganMs = clock.epochMs();
  let buckets: Bucket[] = [];
  let areas = new Map<string, AreaCount>();
  const changes: SeenChange[] = [];
  const healthMs = new Map<string, number>();
  const adminMs = new Map<string, number>();

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

  const decided = ({ query, decision }: Entry): void => {
    if (query.channel === "explain" || query.channel === "simulation") return;
    touches.decided({ decision });
    const { verdicts } = current();
    const { kind } = decision.verdict;
    verdicts[kind] = (verdicts[kind] ?? 0) + 1;
    countArea(decision.turn.client.place ?? decision.turn.client.area ?? "unknown", regionOf(decision.verdict));
  };
  const changed = (change: SeenChange): void => {
    changes.unshift(change);
    changes.length = Math.min(changes.length, MOST_CHANGES);
    for (const { field } of change.changes) {
      if (field === "health") healthMs.set(change.region, change.atMs);
      if (field === "admin") adminMs.set(change.region, change.atMs);
    }
  };

  return {
    touchedBy: touches.of,
    happened: (happening) => {
      if (happening.kind === "decision") decided(happening.entry);
      else if (happening.kind === "region") changed({ ...happening.change, atMs: happening.atMs });
    },
    measured: (turns) => {
      const { regions } = current();
      for (const { region, ttftMs, outcome } of turns) {
        const sum = regions.get(region) ?? { turns: 0, overThreeSeconds: 0, failed: 0 };
        regions.set(region, sum);
        sum.turns += 1;
        if (ttftMs !== null && ttftMs > LATE_FIRST_TOKEN_MS) sum.overThreeSeconds += 1;
        if (outcome === "failed") sum.failed += 1;
      }
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

/** A ninetieth goes with each bucket, so that the matrix follows the quarter of an hour without keeping each decision. */
const fading = (areas: ReadonlyMap<string, AreaCount>): Map<string, AreaCount> =>
  new Map(
    [...areas].flatMap(([key, one]) => {
      const count = one.count * (1 - 1 / BUCKETS);
      return count < 0.5 ? [] : [[key, { ...one, count }] as const];
    }),
  );
