/** The page made to look as it does where something is wrong: an old version, values that are no numbers, two processes. */
import type { Family, Series } from "./exposition.ts";

/** Names of vLLM 0.8, for those that were renamed since. */
const OLD_NAMES: Readonly<Record<string, string>> = {
  "vllm:kv_cache_usage_perc": "vllm:gpu_cache_usage_perc",
  "vllm:prefix_cache_queries": "vllm:gpu_prefix_cache_queries",
  "vllm:prefix_cache_hits": "vllm:gpu_prefix_cache_hits",
  "vllm:inter_token_latency_seconds": "vllm:time_per_output_token_seconds",
};
/** What that version did not have. */
const NOT_YET = new Set([
  "vllm:num_requests_waiting_by_reason",
  "vllm:engine_sleep_state",
  "vllm:external_prefix_cache_queries",
  "vllm:external_prefix_cache_hits",
  "vllm:prompt_tokens_by_source",
  "vllm:prompt_tokens_cached",
  "vllm:request_time_per_output_token_seconds",
  "vllm:request_prefill_kv_computed_tokens",
]);
const LABELS_NOT_YET = new Set(["kv_cache_size_tokens", "kv_cache_max_concurrency"]);

export const withOldNames = (families: readonly Family[]): readonly Family[] =>
  families
    .filter(({ name }) => !NOT_YET.has(name))
    .map((family) => {
      const name = OLD_NAMES[family.name] ?? family.name;
      if (family.name !== "vllm:cache_config_info" || family.kind !== "gauge") return { ...family, name };
      return { ...family, name, series: family.series.map(withoutNewLabels) };
    });

const withoutNewLabels = ({ labels, value }: Series): Series => ({
  labels: Object.fromEntries(Object.entries(labels).filter(([label]) => !LABELS_NOT_YET.has(label))),
  value,
});

/** Gauges of load without a value, as an engine writes them that has not measured yet. */
export const withNaN = (families: readonly Family[]): readonly Family[] =>
  families.map((family) =>
    family.kind === "gauge" && /requests_(?:running|waiting)|usage_perc/.test(family.name)
      ? { ...family, series: family.series.map(({ labels }) => ({ labels, value: Number.NaN })) }
      : family,
  );

/** The page of another process behind the same address, which has had half the traffic. */
export const ofOtherProcess = (families: readonly Family[]): readonly Family[] => families.map(halved);

const halved = (family: Family): Family => {
  switch (family.kind) {
    case "gauge":
      return family;
    case "counter":
      return { ...family, series: family.series.map((one) => ({ ...one, value: half(one.value) })) };
    case "histogram":
      return {
        ...family,
        series: family.series.map((one) => ({ ...one, counts: one.counts.map(half), sum: one.sum / 2 })),
      };
  }
};

const half = (count: number): number => Math.floor(count / 2);
