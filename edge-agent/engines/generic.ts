/**
 * Any server that has the concepts of the Gateway API inference extension's model server protocol
 * (docs/proposals/003-model-server-protocol): by the names of whichever engine it took them from. Only where it is configured,
 * and with aliases for servers that took none.
 */
import { labelOf, type Sample } from "../exposition-line.ts";
import { type Engine, type FieldNames, ONE_PAGE, UNMEASURED } from "./engine.ts";
import { type Measured, notExported, readLabelledPage } from "./labelled-page.ts";
import { unmeasuredReading } from "./model-reading.ts";
import type { Pick, Reader } from "./reader.ts";
import { processStartOf } from "./started-at.ts";
import { capacityOf } from "./vllm-capacity.ts";
import { adaptersAtWork } from "./vllm-replica.ts";

export const GENERIC_NAMES = {
  requestsRunning: [
    "vllm:num_requests_running",
    "sglang:num_running_reqs",
    "trtllm_num_requests_running",
    "nv_trt_llm_request_metrics",
  ],
  requestsWaiting: [
    "vllm:num_requests_waiting",
    "sglang:num_queue_reqs",
    "trtllm_num_requests_waiting",
    "nv_trt_llm_request_metrics",
  ],
  kvCacheUsedFraction: [
    "vllm:kv_cache_usage_perc",
    "sglang:token_usage",
    "trtllm_kv_cache_utilization",
    "nv_trt_llm_kv_cache_block_metrics",
  ],
  /** Labels block_size and num_gpu_blocks, or page_size and num_pages. */
  cacheConfig: ["vllm:cache_config_info", "sglang:cache_config_info"],
  kvTokensPerBlock: ["trtllm_kv_cache_tokens_per_block", "nv_trt_llm_kv_cache_block_metrics"],
  kvBlocks: ["trtllm_kv_cache_max_blocks", "nv_trt_llm_kv_cache_block_metrics"],
  adapters: ["vllm:lora_requests_info"],
} as const satisfies FieldNames;

const REQUIRED = [
  GENERIC_NAMES.requestsRunning,
  GENERIC_NAMES.requestsWaiting,
  GENERIC_NAMES.kvCacheUsedFraction,
] as const;

export const generic: Engine = {
  ...ONE_PAGE,
  name: "generic",
  names: GENERIC_NAMES,
  recognises: () => false,
  owner: null,
  read: ({ page, models }) => {
    if (page === null) return unmeasuredReading("generic", models);
    const label = [...page.samples.keys()].some((name) => name.startsWith("nv_trt_llm_")) ? "model" : "model_name";
    const reading = readLabelledPage({
      engine: "generic",
      page,
      models,
      label,
      required: REQUIRED,
      labelled: REQUIRED.flat(),
      measure,
    });
    const startedAt = processStartOf(page);
    const isAlone = reading.models.length === 1;
    const atWork = isAlone
      ? adaptersAtWork(GENERIC_NAMES.adapters.flatMap((name) => page.samples.get(name) ?? []))
      : [];
    return {
      ...reading,
      models: reading.models.map((model) => ({
        ...model,
        adapters: [...new Set([...model.adapters, ...atWork])],
        replicas: model.replicas.map((replica) => ({ ...replica, startedAt })),
      })),
    };
  },
};

/** The names that say several things by a label say this one. */
const typed =
  (label: string, type: string): Pick =>
  (samples) =>
    samples.filter((sample) => (labelOf(sample, label) ?? type) === type);

const measure = (reader: Reader): Measured => {
  const blocks = reader.total("kvCapacityTokens", GENERIC_NAMES.kvBlocks, typed("kv_cache_block_type", "max"));
  const perBlock = reader.total(
    "kvCapacityTokens",
    GENERIC_NAMES.kvTokensPerBlock,
    typed("kv_cache_block_type", "tokens_per"),
  );
  const configured = reader.find(GENERIC_NAMES.cacheConfig);
  const capacity =
    capacityOf(configured.samples.map(inVllmsWords)) ??
    (blocks !== null && perBlock !== null ? blocks * perBlock : null);
  if (!capacity) reader.fault("kvCapacityTokens", "capacity-unknown");
  notExported(reader, "prefixHitFraction", "ttftP50Ms", "newTokensPerSecond", "prefillTokensPerSecond", "itlMs");
  return {
    contextLimitTokens: null,
    kvCapacityTokens: capacity === 0 ? null : capacity,
    replicas: [
      {
        ...UNMEASURED,
        requestsRunning: reader.gauge(
          "requestsRunning",
          GENERIC_NAMES.requestsRunning,
          typed("request_type", "scheduled"),
        ),
        requestsWaiting: reader.gauge(
          "requestsWaiting",
          GENERIC_NAMES.requestsWaiting,
          typed("request_type", "waiting"),
        ),
        kvCacheUsedFraction: reader.fraction(
          "kvCacheUsedFraction",
          GENERIC_NAMES.kvCacheUsedFraction,
          typed("kv_cache_block_type", "fraction"),
        ),
      },
    ],
  };
};

const inVllmsWords = (sample: Sample): Sample => ({
  ...sample,
  labelNames: sample.labelNames.map((name) =>
    name === "page_size" ? "block_size" : name === "num_pages" ? "num_gpu_blocks" : name,
  ),
});
