/** Samples of one name told apart by their labels, so that a series which stands twice is noticed. */
import type { Sample } from "./exposition-line.ts";

export type Series = {
  /** Each series once; NaN where it stood twice with different values. */
  readonly samples: readonly Sample[];
  readonly isDoubled: boolean;
  readonly isContradicted: boolean;
};

/** @param samples of one name, in any order */
export const distinctSeries = (samples: readonly Sample[]): Series => {
  if (samples.length < 2) return { samples, isDoubled: false, isContradicted: false };
  const first = samples[0]?.labelNames;
  // One exporter writes one order of labels, and then the values alone tell series apart.
  const isOneOrder = samples.every(({ labelNames }) => labelNames === first);
  const keys = isOneOrder ? samples.map(({ labelValues }) => labelValues.join(SEPARATOR)) : samples.map(keyInOrder);
  if (new Set(keys).size === samples.length) return { samples, isDoubled: false, isContradicted: false };
  const bySeries = new Map<string, Sample>();
  let isContradicted = false;
  for (const [at, sample] of samples.entries()) {
    const key = keys[at] ?? "";
    const known = bySeries.get(key) ?? sample;
    const isSame = known.value === sample.value || Object.is(known.value, sample.value);
    isContradicted ||= !isSame;
    bySeries.set(key, isSame ? known : { ...known, value: Number.NaN });
  }
  return { samples: [...bySeries.values()], isDoubled: true, isContradicted };
};

const SEPARATOR = "\u0000";

const keyInOrder = ({ labelNames, labelValues }: Sample): string =>
  labelNames
    .map((name, at) => `${name}=${labelValues[at]}`)
    .sort()
    .join(SEPARATOR);
