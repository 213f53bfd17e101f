/** Values out of a page: one number of several series, or why there is none. */
import { labelOf, type Sample } from "../exposition-line.ts";

/** A number, or the code of the fault that stands in its place. */
export type Value =
  | { readonly kind: "known"; readonly value: number }
  | { readonly kind: "unknown"; readonly code: string };

/** The series of one replica under the first of several names that it has any under. */
export type Found = {
  readonly samples: readonly Sample[];
  /** Whether one of them stood twice on the page, with different values. */
  readonly isContradicted: boolean;
};
export type Find = (names: readonly string[]) => Found;

export type Fold = "sum" | "mean" | "max";

const unknown = (code: string): Value => ({ kind: "unknown", code });

/** No engine counts this far: a million tokens a second take thirty years. Larger is what exporters write for "blank". */
const LARGEST = 1e15;

/**
 * One number of all given series. A single series that is not a finite number of 0 or more makes the whole unknown: a sum
 * that leaves one out looks like a small sum.
 */
export const totalOf = ({ samples, isContradicted }: Found, fold: Fold): Value => {
  if (samples.length === 0) return unknown("missing");
  if (!samples.every(({ value }) => Number.isFinite(value)))
    return unknown(isContradicted ? "duplicate" : "not-finite");
  if (samples.some(({ value }) => value < 0 || value > LARGEST)) return unknown("out-of-range");
  return { kind: "known", value: folded(samples, fold) };
};

/** Above this a "fraction" is no fraction with a rounding error, but something else under its name. */
const LARGEST_FRACTION = 1.5;

/** As totalOf, for shares: clamped to 1, unknown where it cannot be a share at all. */
export const fractionOf = (found: Found, fold: Fold): Value => {
  const value = totalOf(found, fold);
  if (value.kind === "unknown") return value;
  return value.value > LARGEST_FRACTION ? unknown("out-of-range") : { kind: "known", value: Math.min(1, value.value) };
};

const folded = (samples: readonly Sample[], fold: Fold): number => {
  const values = samples.map(({ value }) => value);
  switch (fold) {
    case "sum":
      return values.reduce((sum, value) => sum + value, 0);
    case "mean":
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    case "max":
      return values.reduce((most, value) => Math.max(most, value));
  }
};

/** Several processes of one engine say the same under different `pid` labels: of each series the largest of them speaks. */
export const perProcess = (found: Found): Found => {
  const { samples } = found;
  const isPerProcess = samples.some((sample) => labelOf(sample, "pid") !== null);
  // What is no value among them must stay visible, not stand back behind another process's.
  const isSound = samples.every(({ value }) => value >= 0 && value <= LARGEST);
  if (!isPerProcess || !isSound) return found;
  const largest = new Map<string, Sample>();
  for (const sample of samples) {
    const series = withoutProcess(sample);
    const known = largest.get(series);
    if (known === undefined || sample.value > known.value) largest.set(series, sample);
  }
  return { ...found, samples: [...largest.values()] };
};

const withoutProcess = ({ labelNames, labelValues }: Sample): string =>
  labelNames
    .flatMap((name, at) => (name === "pid" ? [] : [`${name}=${labelValues[at]}`]))
    .sort()
    .join("\u0000");
