/** A histogram's buckets of one replica: counts up to each bound, summed over labels that nobody asked about. */
import { labelOf } from "../exposition-line.ts";
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
  const byBound = new Map<number, number>();
  for (const sample of found.samples) {
    const bound = boundOf(labelOf(sample, "le"));
    if (!isBound(bound)) return { kind: "unknown", code: "malformed-bound" };
    byBound.set(bound, (byBound.get(bound) ?? 0) + sample.value);
  }
  const sorted = [...byBound].sort(([a], [b]) => a - b);
  const bounds = sorted.map(([bound]) => bound);
  const counts = sorted.map(([, count]) => count);
  const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY;
  const isCumulative = counts.every((count, at) => at === 0 || count >= (counts[at - 1] ?? 0));
  return isWhole && isCumulative
    ? { kind: "known", bounds, counts }
    : { kind: "unknown", code: "incomplete-histogram" };
};

const isBound = (bound: number): boolean =>
  (bound >= 0 && bound <= LARGEST_BOUND) || bound === Number.POSITIVE_INFINITY;

const boundOf = (le: string | null): number =>
  le !== null && /^\+?inf(?:inity)?$/i.test(le) ? Number.POSITIVE_INFINITY : Number(le || Number.NaN);
