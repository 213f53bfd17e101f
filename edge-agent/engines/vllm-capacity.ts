/** KV-cache capacity in tokens out of `vllm:cache_config_info`, whose labels are the cache's configuration. */
import { labelOf, type Sample } from "../exposition-line.ts";

/** How far two capacities may differ by rounding. */
const SAME_WITHIN = 0.01;

/**
 * Over all engines behind one front end.
 *
 * `num_gpu_blocks` is already their sum and stands on each engine's series, so the largest is taken and nothing is added
 * (vllm/v1/engine/core_client.py). `kv_cache_size_tokens` is better, since blocks mislead for hybrid models; whether it is
 * a sum too is not documented: where blocks say that it is one engine's share, it is multiplied.
 *
 * @param info one series an engine
 * @returns null where neither says a number
 */
export const capacityOf = (info: readonly Sample[]): number | null => {
  const stated = largest(info.map((sample) => numberOf(sample, "kv_cache_size_tokens")));
  const counted = largest(info.map(byBlocks));
  if (stated === null) return counted;
  const isShare = counted !== null && info.length > 1 && isSame(stated * info.length, counted);
  return isShare ? stated * info.length : stated;
};

const byBlocks = (sample: Sample): number | null => {
  const blocks = numberOf(sample, "num_gpu_blocks");
  const tokensPerBlock = numberOf(sample, "block_size");
  return blocks === null || tokensPerBlock === null ? null : blocks * tokensPerBlock;
};

/** Absent values are the text `None`. */
const numberOf = (sample: Sample, label: string): number | null => {
  const text = labelOf(sample, label) ?? "";
  const value = /^\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : null;
};

const largest = (values: readonly (number | null)[]): number | null =>
  values.reduce((most, value) => (value !== null && (most === null || value > most) ? value : most), null);

const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= SAME_WITHIN * b;
