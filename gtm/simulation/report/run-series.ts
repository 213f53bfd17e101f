/** One run over time: what each region computed, and how long clients waited, in slices of equal length. */
import type { TurnRecord } from "../turn-record.ts";
import { createLogHistogram, type LogHistogram, meanOf, merged, observe, quantileOf } from "./log-histogram.ts";

export type RunSeries = {
  readonly sliceMs: number;
  /** By region, by slice: GPU time of prefills, ms. */
  readonly prefillMs: readonly Float64Array[];
  /** By slice of the time of asking. */
  readonly ttft: readonly LogHistogram[];
};

const MOST_SLICES = 60;
const LEAST_SLICE_MS = 10_000;

/** @param totalMs warm-up included */
export const createRunSeries = (regions: number, totalMs: number): RunSeries => {
  const sliceMs = Math.max(LEAST_SLICE_MS, Math.ceil(totalMs / MOST_SLICES / 1_000) * 1_000);
  const slices = Math.max(1, Math.ceil(totalMs / sliceMs));
  return {
    sliceMs,
    prefillMs: Array.from({ length: regions }, () => new Float64Array(slices)),
    ttft: Array.from({ length: slices }, createLogHistogram),
  };
};

/** @param computedMs GPU time of its prefill, spread over the time that the prefill took */
export const addToSeries = (series: RunSeries, record: TurnRecord, computedMs: number): void => {
  const { sliceMs, prefillMs, ttft } = series;
  const asked = ttft[Math.floor(record.askedAtMs / sliceMs)];
  if (asked !== undefined) observe(asked, record.firstTokenAtMs - record.askedAtMs);
  const slices = prefillMs[record.region];
  if (slices === undefined || computedMs <= 0) return;
  const toMs = record.firstTokenAtMs;
  const fromMs = Math.max(0, toMs - Math.max(1, record.prefillMs));
  for (let at = Math.floor(fromMs / sliceMs); at * sliceMs < toMs && at < slices.length; at++) {
    const overlapMs = Math.min(toMs, (at + 1) * sliceMs) - Math.max(fromMs, at * sliceMs);
    slices[at] = (slices[at] ?? 0) + (computedMs * overlapMs) / (toMs - fromMs);
  }
};

export type SeriesFigures = {
  readonly sliceMs: number;
  /** By region, by slice: share of its replicas' time that prefills took, mean of the seeds; 0 to 1. */
  readonly prefillFraction: readonly (readonly number[])[];
  /** By slice of the time of asking, over all seeds; null: nobody asked. */
  readonly ttftMeanMs: readonly (number | null)[];
  readonly ttftP95Ms: readonly (number | null)[];
};

/** @param runs the same scenario by several seeds, at least one @param replicas by region */
export const seriesFigures = (runs: readonly RunSeries[], replicas: readonly number[]): SeriesFigures => {
  const [first] = runs;
  if (first === undefined) throw new RangeError("no run has no series");
  const fractionOf = (region: number, at: number): number => {
    const sumMs = runs.reduce((sum, { prefillMs }) => sum + (prefillMs[region]?.[at] ?? 0), 0);
    return round(sumMs / (runs.length * first.sliceMs * (replicas[region] ?? 1)), 4);
  };
  const ttft = first.ttft.map((_, at) => merged(runs.flatMap((run) => run.ttft[at] ?? [])));
  return {
    sliceMs: first.sliceMs,
    prefillFraction: first.prefillMs.map((slices, region) => Array.from(slices, (_, at) => fractionOf(region, at))),
    ttftMeanMs: ttft.map((histogram) => roundOrNull(meanOf(histogram))),
    ttftP95Ms: ttft.map((histogram) => roundOrNull(quantileOf(histogram, 0.95))),
  };
};

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
const roundOrNull = (value: number | null): number | null => (value === null ? null : round(value, 1));
