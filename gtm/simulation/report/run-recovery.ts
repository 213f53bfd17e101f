/** What follows when a region dies: how long its conversations wait elsewhere, and what that does to the regions that take them. */
import type { Happening } from "../scenario.ts";
import type { TurnRecord } from "../turn-record.ts";
import { createLogHistogram, type LogHistogram, merged, observe, quantileOf } from "./log-histogram.ts";

/** Of one run, and one death. */
export type RunRecovery = {
  /** Index of the region that died. */
  readonly region: number;
  readonly atMs: number;
  /** When it came back; what is asked later is not displaced. Infinity: it did not. */
  readonly untilMs: number;
  /** TTFT of all turns asked in the time measured before it died. */
  readonly before: LogHistogram;
  /** TTFT over the promise, in thousandths, of conversations' first turns before: their context is nowhere, as that of displaced ones. */
  readonly beforeOfPromise: LogHistogram;
  /** TTFT of displaced turns, by slice of the time after; of those under way when it died from that moment on, in the first slice. */
  readonly displaced: readonly LogHistogram[];
  readonly displacedOfPromise: readonly LogHistogram[];
  /** By region: turns served there and those of them within the promise, before and by slice after. */
  readonly promised: readonly { readonly before: Kept; readonly after: readonly Kept[] }[];
};

export type Kept = { turns: number; within: number };

export const RECOVERY_SLICE_MS = 10_000;
const SLICES = 12;

/** @param happenings of the scenario, in any order */
export const createRunRecoveries = (happenings: readonly Happening[], regions: number): readonly RunRecovery[] =>
  happenings
    .filter(({ kind }) => kind === "fails")
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ region, atMs }) => ({
      ...{ region, atMs, untilMs: returnOf(happenings, region, atMs) },
      ...{ before: createLogHistogram(), beforeOfPromise: createLogHistogram() },
      ...{ displaced: slices(createLogHistogram), displacedOfPromise: slices(createLogHistogram) },
      promised: Array.from({ length: regions }, () => ({ before: noneKept(), after: slices(noneKept) })),
    }));

const returnOf = (happenings: readonly Happening[], region: number, atMs: number): number =>
  happenings.reduce(
    (least, one) =>
      one.kind === "returns" && one.region === region && one.atMs > atMs ? Math.min(least, one.atMs) : least,
    Number.POSITIVE_INFINITY,
  );

const slices = <T>(create: () => T): readonly T[] => Array.from({ length: SLICES }, create);
const noneKept = (): Kept => ({ turns: 0, within: 0 });

/** @param fromMs the end of the warm-up: what was asked earlier is not counted @param promisedMs the promise on its TTFT */
export const addToRecovery = (recovery: RunRecovery, record: TurnRecord, fromMs: number, promisedMs: number): void => {
  const { atMs, untilMs, before, displaced, promised } = recovery;
  const { askedAtMs, firstTokenAtMs } = record;
  const isWithin = firstTokenAtMs - askedAtMs <= promisedMs;
  const wasUnderWay = askedAtMs < atMs && record.failedAttempts > 0 && firstTokenAtMs > atMs;
  const here = promised[record.region];
  if (askedAtMs < atMs && !wasUnderWay) {
    if (askedAtMs < fromMs) return;
    observe(before, firstTokenAtMs - askedAtMs);
    if (record.turn === 1) observe(recovery.beforeOfPromise, (1_000 * (firstTokenAtMs - askedAtMs)) / promisedMs);
    count(here?.before, isWithin);
    return;
  }
  const countsFromMs = Math.max(askedAtMs, atMs);
  const at = Math.floor((countsFromMs - atMs) / RECOVERY_SLICE_MS);
  count(here?.after[at], isWithin);
  const isDisplaced = wasUnderWay || record.failedAttempts > 0 || record.previous === recovery.region;
  const [slice, ofPromise] = [displaced[at], recovery.displacedOfPromise[at]];
  if (slice === undefined || ofPromise === undefined) return;
  if (!isDisplaced || askedAtMs >= untilMs || record.region === recovery.region) return;
  observe(slice, firstTokenAtMs - countsFromMs);
  observe(ofPromise, (1_000 * (firstTokenAtMs - countsFromMs)) / promisedMs);
};

const count = (kept: Kept | undefined, isWithin: boolean): void => {
  if (kept === undefined) return;
  kept.turns += 1;
  if (isWithin) kept.within += 1;
};

/** Over all seeds. Fractions are 0 to 1; null: no such turn. */
export type RecoveryFigures = {
  /** Index of the region that died. */
  readonly region: number;
  readonly atMs: number;
  readonly sliceMs: number;
  readonly beforeP95Ms: number | null;
  /** By slice of the time after. */
  readonly displacedTurns: readonly number[];
  readonly displacedP95Ms: readonly (number | null)[];
  /** p95 of TTFT over the promise: of first turns before, of displaced ones by slice. */
  readonly beforeP95OfPromise: number | null;
  readonly displacedP95OfPromise: readonly (number | null)[];
  /** When displaced turns are as near to the promise as first turns were before, give or take 10 %; null: not in the time looked at. */
  readonly recoveredAfterMs: number | null;
  /** By region: share of the turns served there that were within the promise. */
  readonly withinSloBefore: readonly (number | null)[];
  readonly withinSloAfter: readonly (readonly (number | null)[])[];
};

const P95 = 0.95;
/** Two slices in a row, that one lucky slice is no recovery. */
const AS_BEFORE = 1.1;

/** @param runs of the same scenario, at least one; each with the same deaths */
export const recoveryFigures = (runs: readonly (readonly RunRecovery[])[]): readonly RecoveryFigures[] =>
  (runs[0] ?? []).map((first, death) => {
    const same = runs.flatMap((run) => run[death] ?? []);
    const displaced = first.displaced.map((_, at) => merged(same.flatMap((run) => run.displaced[at] ?? [])));
    const beforeP95Ms = quantileOf(merged(same.map(({ before }) => before)), P95);
    const beforeOfPromise = quantileOf(merged(same.map((run) => run.beforeOfPromise)), P95);
    const displacedOfPromise = first.displacedOfPromise.map((_, at) =>
      quantileOf(merged(same.flatMap((run) => run.displacedOfPromise[at] ?? [])), P95),
    );
    return {
      ...{ region: first.region, atMs: first.atMs, sliceMs: RECOVERY_SLICE_MS },
      beforeP95Ms: rounded(beforeP95Ms),
      displacedTurns: displaced.map(({ total }) => total),
      displacedP95Ms: displaced.map((slice) => rounded(quantileOf(slice, P95))),
      beforeP95OfPromise: fromThousandths(beforeOfPromise),
      displacedP95OfPromise: displacedOfPromise.map(fromThousandths),
      recoveredAfterMs: recoveredAfterMs(beforeOfPromise, displacedOfPromise),
      withinSloBefore: first.promised.map((_, region) =>
        share(same.flatMap(({ promised }) => promised[region]?.before ?? [])),
      ),
      withinSloAfter: first.promised.map(({ after }, region) =>
        after.map((_, at) => share(same.flatMap(({ promised }) => promised[region]?.after[at] ?? []))),
      ),
    };
  });

/** A slice without displaced turns is as good as before. */
const recoveredAfterMs = (before: number | null, after: readonly (number | null)[]): number | null => {
  if (before === null) return null;
  const isBack = (at: number): boolean => (after[at] ?? 0) <= AS_BEFORE * before;
  const at = after.findIndex((_, slice) => isBack(slice) && isBack(slice + 1));
  return at < 0 ? null : at * RECOVERY_SLICE_MS;
};

const share = (kept: readonly Kept[]): number | null => {
  const turns = kept.reduce((sum, one) => sum + one.turns, 0);
  return turns === 0 ? null : Number((kept.reduce((sum, one) => sum + one.within, 0) / turns).toFixed(4));
};
const fromThousandths = (value: number | null): number | null =>
  value === null ? null : Number((value / 1_000).toFixed(3));
const rounded = (ms: number | null): number | null => (ms === null ? null : Number(ms.toFixed(1)));
