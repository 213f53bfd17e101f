/** How fast replicas prefill: what they report, else what the same model does elsewhere, else a stated default. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { ModelHeard, ReplicaHeard } from "./heard-report.ts";
import { bounded } from "./known.ts";
import { type PrefillSpeed, speedFromRate } from "./serving.ts";

/** Where nobody has measured a model: between an L4 with 8 B and eight A100 with 70 B; always with confidence 0. */
const ASSUMED_TOKENS_PER_SECOND = 5_000;

/** Slower or faster is a mistake of the measurement, and would make costs that no number can hold. */
const LEAST_RATE = 1e-3;
const MOST_RATE = 1e9;
const MOST_ATTN_MS = 1;

/** @returns null: the report says nothing, neither of the replica nor of its model */
export const reportedSpeed = (replica: ReplicaHeard, model: ModelHeard): PrefillSpeed | null => {
  const linMs = bounded(replica.prefillLinMs, 1_000 / MOST_RATE, 1_000 / LEAST_RATE);
  if (linMs === null) return speedByRate(model);
  const attnMs = bounded(replica.prefillAttnMs, 0, MOST_ATTN_MS);
  return { linMs, attnMs: attnMs ?? speedFromRate(1_000 / linMs).attnMs };
};

/** A replica's speed where it is not known which; null: the report says nothing. */
export const reportedModelSpeed = (model: ModelHeard): PrefillSpeed | null => {
  for (const replica of model.replicas) {
    const speed = reportedSpeed(replica, model);
    if (speed !== null) return speed;
  }
  return speedByRate(model);
};

const speedByRate = (model: ModelHeard): PrefillSpeed | null => {
  const rate = bounded(model.prefillTokensPerSecond, LEAST_RATE, MOST_RATE);
  return rate === null ? null : speedFromRate(rate);
};

export type MeasuredSpeed = { readonly region: RegionId; readonly model: ModelId; readonly speed: PrefillSpeed };

/**
 * The speed to take where a region's replica has none: the median of what the other regions' replicas of the model do, one
 * word a region, else the default. A mean would follow whoever lies most, and a count of replicas whoever claims most.
 *
 * @param measured in any order
 */
export const borrowedSpeed = (model: ModelId, region: RegionId, measured: readonly MeasuredSpeed[]): PrefillSpeed => {
  const lenders = measured.filter((one) => one.model === model && one.region !== region);
  const words = [...Map.groupBy(lenders, (one) => one.region).values()].map((ones) =>
    middleOf(ones.map(({ speed }) => speed)),
  );
  return words.length === 0 ? speedFromRate(ASSUMED_TOKENS_PER_SECOND) : middleOf(words);
};

/** Of two in the middle the slower: a region that nobody knows is not made to look fast by one word. @param speeds at least one */
const middleOf = (speeds: readonly PrefillSpeed[]): PrefillSpeed => {
  const sorted = speeds.toSorted((a, b) => a.linMs - b.linMs || a.attnMs - b.attnMs);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("middleOf: no speed");
  return middle;
};

/** Tokens per second of one replica while attention is negligible. */
export const rateOf = (speed: PrefillSpeed): number => 1_000 / speed.linMs;

/** A busy replica still has this share of its rate to spare as a weight among equals. */
const LEAST_SPARE_FRACTION = 0.05;

/**
 * Σ rate × max(0.05, share of it that is idle): the weight of a region among equals.
 *
 * @param speeds one a replica; at least one
 * @param newTokensPerSecond computed by all replicas together; null: unknown, taken as none
 * @returns tokens per second, more than 0
 */
export const spareTokensPerSecond = (speeds: readonly PrefillSpeed[], newTokensPerSecond: number | null): number => {
  const each = (newTokensPerSecond ?? 0) / speeds.length;
  let sum = 0;
  for (const speed of speeds) {
    const rate = rateOf(speed);
    sum += rate * Math.max(LEAST_SPARE_FRACTION, 1 - each / rate);
  }
  return sum;
};
