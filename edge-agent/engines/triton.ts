/** Triton with the TensorRT-LLM backend: `nv_trt_llm_*` on port 8002, all gauges, told apart by a label instead of a name. */
import { labelOf } from "../exposition-line.ts";
import { type Engine, type FieldNames, ONE_PAGE, UNMEASURED } from "./engine.ts";
import { type Measured, notExported, readLabelledPage } from "./labelled-page.ts";
import { unmeasuredReading } from "./model-reading.ts";
import type { Pick, Reader } from "./reader.ts";

const TRITON_NAMES = {
  requests: ["nv_trt_llm_request_metrics"],
  kvCache: ["nv_trt_llm_kv_cache_block_metrics"],
} as const satisfies FieldNames;

const REQUIRED = [TRITON_NAMES.requests, TRITON_NAMES.kvCache] as const;

export const triton: Engine = {
  ...ONE_PAGE,
  name: "triton",
  names: TRITON_NAMES,
  recognises: (names) => names.some((name) => name.startsWith("nv_trt_llm_")),
  owner: null,
  // The port of metrics has nothing else.
  hasModelList: false,
  healthPath: null,
  read: ({ page, models }) =>
    page === null
      ? unmeasuredReading("triton", models)
      : readLabelledPage({
          engine: "triton",
          page,
          models: null,
          label: "model",
          required: REQUIRED,
          labelled: REQUIRED.flat(),
          measure,
        }),
};

const typed =
  (label: string, type: string): Pick =>
  (samples) =>
    samples.filter((sample) => labelOf(sample, label) === type);
const requests = (type: string): Pick => typed("request_type", type);
const blocks = (type: string): Pick => typed("kv_cache_block_type", type);

const measure = (reader: Reader): Measured => {
  const maxBlocks = reader.total("kvCapacityTokens", TRITON_NAMES.kvCache, blocks("max"));
  const tokensPerBlock = reader.total("kvCapacityTokens", TRITON_NAMES.kvCache, blocks("tokens_per"));
  const capacity = maxBlocks === null || tokensPerBlock === null ? null : maxBlocks * tokensPerBlock;
  if (capacity === null || capacity === 0) reader.fault("kvCapacityTokens", "capacity-unknown");
  // It calls the model by its own name, which no client asks for: the configuration says which one it is.
  reader.fault("model", "engine-name");
  notExported(
    reader,
    "startedAtMs",
    "prefixHitFraction",
    "ttftP50Ms",
    "newTokensPerSecond",
    "prefillTokensPerSecond",
    "itlMs",
  );
  const running = reader.gauge("requestsRunning", TRITON_NAMES.requests, requests("scheduled"));
  return {
    contextLimitTokens: null,
    kvCapacityTokens: capacity === 0 ? null : capacity,
    replicas: [
      {
        ...UNMEASURED,
        requestsRunning: running,
        requestsWaiting: waitingOf(reader, running),
        kvCacheUsedFraction: reader.fraction("kvCacheUsedFraction", TRITON_NAMES.kvCache, blocks("fraction")),
      },
    ],
  };
};

/** Older versions say how many are there at all: who is not scheduled waits (tensorrtllm_backend#725). */
const waitingOf = ({ find, gauge, total }: Reader, scheduled: number | null): number | null => {
  const isTold = find(TRITON_NAMES.requests, requests("waiting")).samples.length > 0;
  const hasActive = find(TRITON_NAMES.requests, requests("active")).samples.length > 0;
  if (isTold || !hasActive) return gauge("requestsWaiting", TRITON_NAMES.requests, requests("waiting"));
  const active = total("requestsWaiting", TRITON_NAMES.requests, requests("active"));
  return active === null || scheduled === null ? null : Math.max(0, active - scheduled);
};
