/** A histogram's buckets of one replica: counts up to each bound, summed over labels that nobody asked about. */
import { labelOf, type Sample } from "../exposition-line.ts";
import { type Found, totalOf } from "./series.ts";

export type Buckets =
  | {
      readonly kind: "known";
      /** Ascending, the last one infinite. */
      readonly bounds: readonly number[];
      /** Cumulative: never less than the one before. */
      readonly counts: readonly number[];
    }
  | { readonly kind: "unknown"; readonly code: string };

/** Seconds; thirty years. */
const LARGEST_BOUND = 1e9;

/** @param found the series of one `…_bucket` name; `le` is a number however it is spelled: `1`, `1.0`, `1e-03`, `+Inf` */
export const bucketsOf = (found: Found): Buckets => {
  const counted = totalOf(found, "sum");
  if (counted.kind === "unknown") return counted;
  const { bounds, counts } = inOrder(found.samples) ?? sorted(found.samples);
  if (!bounds.every(isBound)) return { kind: "unknown", code: "malformed-bound" };
  const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY;
  const isCumulative = counts.every((count, at) => at === 0 || count >= (counts[at - 1] ?? 0));
  return isWhole && isCumulative
    ? { kind: "known", bounds, counts }
    : { kind: "unknown", code: "incomplete-histogram" };
};

type Counted = { readonly bounds: readonly number[]; readonly counts: readonly number[] };

/** As one replica's exporter writes them. @returns null where they are not ascending, each once */
const inOrder = (samples: readonly Sample[]): Counted | null => {
  const bounds = ascendingBoundsOf(samples);
  return bounds === null ? null : { bounds, counts: samples.map(({ value }) => value) };
};

/** By the list of one replica's: pages that are laid out alike have the same lists (exposition-layout.ts). */
const boundsBy = new WeakMap<readonly Sample[], readonly number[] | null>();

const ascendingBoundsOf = (samples: readonly Sample[]): readonly number[] | null => {
  const known = boundsBy.get(samples);
  if (known !== undefined) return known;
  const all = samples.map(boundOf);
  const isAscending = all.every((bound, at) => bound > (all[at - 1] ?? Number.NEGATIVE_INFINITY));
  const bounds = isAscending ? all : null;
  boundsBy.set(samples, bounds);
  return bounds;
};

/** Summed over labels that nobody asked about. */
const sorted = (samples: readonly Sample[]): Counted => {
  const byBound = new Map<number, number>();
  for (const sample of samples) {
    const bound = boundOf(sample);
    byBound.set(bound, (byBound.get(bound) ?? 0) + sample.value);
  }
  const inTurn = [...byBound].sort(([a], [b]) => a - b);
  return { bounds: inTurn.map(([bound]) => bound), counts: inTurn.map(([, count]) => count) };
};

const isBound = (bound: number): boolean =>
  (bound >= 0 && bound <= LARGEST_BOUND) || bound === Number.POSITIVE_INFINITY;

/** @returns NaN where it is none */
const boundOf = (sample: Sample): number => {
  const le = labelOf(sample, "le");
  return le !== null && INFINITE.test(le) ? Number.POSITIVE_INFINITY : Number(le || Number.NaN);
};

const INFINITE = /^\+?inf(?:inity)?$/i;
