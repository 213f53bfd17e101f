/** The `/metrics` page of a vLLM whose data-parallel engines are this region's replicas. */
import { BLOCK_TOKENS } from "#gtm/simulation/serving/block-hash.ts";
import { type EngineOptions, totalBlocksOf } from "#gtm/simulation/serving/engine-options.ts";
import type { EngineOnPage, LabelsOf } from "./engine-series.ts";
import type { Family, Labels } from "./exposition.ts";
import { HELP, type TallyName } from "./tally.ts";
import { vllmCounters } from "./vllm-counters.ts";
import { vllmGauges } from "./vllm-gauges.ts";

export type PageFacts = {
  readonly model: string;
  readonly options: EngineOptions;
  readonly contextLimitTokens: number;
  readonly engines: readonly EngineOnPage[];
  readonly isAsleep: boolean;
  /** Epoch seconds. */
  readonly startedAtSeconds: number;
  readonly residentBytes: number;
};

export const vllmFamilies = (facts: PageFacts): readonly Family[] => {
  const labelsOf: LabelsOf = (engine) => ({ engine: String(engine), model_name: facts.model });
  return [
    ...vllmGauges(facts, labelsOf),
    ...vllmCounters(facts.engines, labelsOf),
    ...histograms(facts, labelsOf),
    {
      kind: "gauge",
      name: "vllm:cache_config_info",
      help: "Information of the LLMEngine CacheConfig",
      series: facts.engines.map((_, engine) => ({ labels: cacheConfig(facts, engine), value: 1 })),
    },
    single("process_resident_memory_bytes", "Resident memory size in bytes.", facts.residentBytes),
    single(
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      facts.startedAtSeconds,
    ),
  ];
};

const histograms = ({ engines }: PageFacts, labelsOf: LabelsOf): Family[] =>
  (Object.keys(HELP) as TallyName[]).map((name) => ({
    kind: "histogram",
    name: `vllm:${name}`,
    help: HELP[name],
    series: engines.map(({ tally }, engine) => ({ ...tally[name], labels: labelsOf(engine) })),
  }));

const single = (name: string, help: string, value: number): Family => ({
  kind: "gauge",
  name,
  help,
  series: [{ labels: {}, value }],
});

/** Behind one front end the sum over all engines stands on each engine's series: to add them up would be wrong. */
const cacheConfig = ({ options, engines, contextLimitTokens }: PageFacts, engine: number): Labels => {
  const blocks = totalBlocksOf(options) * engines.length;
  return {
    block_size: String(BLOCK_TOKENS),
    cache_dtype: "auto",
    enable_prefix_caching: "True",
    engine: String(engine),
    gpu_memory_utilization: "0.92",
    kv_cache_max_concurrency: String((blocks * BLOCK_TOKENS) / contextLimitTokens),
    kv_cache_size_tokens: String(blocks * BLOCK_TOKENS),
    num_cpu_blocks: "None",
    num_gpu_blocks: String(blocks),
    num_gpu_blocks_override: "None",
    prefix_caching_hash_algo: "sha256",
    sliding_window: "None",
  };
};
