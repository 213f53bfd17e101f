/** NVIDIA NIM 1.x: vLLM's names without a prefix. One that passes its engine's own names through is read as that engine. */
import { type Counters, type Engine, type FieldNames, NO_COUNTERS, ONE_PAGE, UNMEASURED } from "./engine.ts";
import { type Measured, notExported, readLabelledPage } from "./labelled-page.ts";
import { unmeasuredReading } from "./model-reading.ts";
import { NIM_PAGE, tellsAtNim } from "./nim-page.ts";
import { cumulative, type Reader, UPPER_BOUND } from "./reader.ts";
import { startOf } from "./started-at.ts";

const NIM_NAMES = {
  requestsRunning: ["num_requests_running"],
  requestsWaiting: ["num_requests_waiting"],
  kvCacheUsedFraction: ["gpu_cache_usage_perc", "kv_cache_usage_perc"],
  promptTokens: ["prompt_tokens_total"],
  outputTokens: ["generation_tokens_total"],
  itlMs: ["inter_token_latency_seconds", "time_per_output_token_seconds"],
  ttftP50Ms: ["time_to_first_token_seconds"],
  startedAtMs: ["prompt_tokens_created", "process_start_time_seconds"],
} as const satisfies FieldNames;

const REQUIRED = [NIM_NAMES.requestsRunning, NIM_NAMES.requestsWaiting, NIM_NAMES.kvCacheUsedFraction] as const;

export const nim: Engine = {
  ...ONE_PAGE,
  name: "nim",
  names: NIM_NAMES,
  recognises: (names) =>
    names.includes("num_requests_running") &&
    names.some((name) => NIM_NAMES.kvCacheUsedFraction.some((known) => known === name)),
  owner: null,
  tellingPaths: [NIM_PAGE],
  tells: tellsAtNim((names) => nim.recognises(names)),
  metricsPaths: [NIM_PAGE, "/metrics"],
  firstPaths: [NIM_PAGE],
  nextPaths: ({ further }) => (further.get(NIM_PAGE)?.kind === "unknown" ? ["/metrics"] : []),
  healthPath: "/v1/health/ready",
  unavailableMeans: "loading",
  read: ({ page, models }) =>
    page === null
      ? unmeasuredReading("nim", models)
      : readLabelledPage({
          engine: "nim",
          page,
          models,
          label: "model_name",
          required: REQUIRED,
          labelled: REQUIRED.flat(),
          measure,
        }),
};

const measure = (reader: Reader): Measured => {
  notExported(reader, "prefixHitFraction", "prefillTokensPerSecond");
  reader.fault("kvCapacityTokens", "capacity-unknown");
  const startedAt = NIM_NAMES.startedAtMs
    .map((name) => startOf(name, reader.find([name]).samples))
    .find((start) => start !== null);
  if (startedAt === undefined) reader.fault("startedAtMs", "missing");
  return {
    contextLimitTokens: null,
    kvCapacityTokens: null,
    replicas: [
      {
        ...UNMEASURED,
        startedAt: startedAt ?? null,
        requestsRunning: reader.gauge("requestsRunning", NIM_NAMES.requestsRunning),
        requestsWaiting: reader.gauge("requestsWaiting", NIM_NAMES.requestsWaiting),
        kvCacheUsedFraction: reader.fraction("kvCacheUsedFraction", NIM_NAMES.kvCacheUsedFraction),
        counters: countersOf(reader),
      },
    ],
  };
};

const countersOf = (reader: Reader): Counters => {
  const { total, histogram, fault } = reader;
  const prompt = total("newTokensPerSecond", NIM_NAMES.promptTokens);
  const counters: Counters = {
    ...NO_COUNTERS,
    computedTokens: cumulative(UPPER_BOUND, prompt),
    promptTokens: cumulative("prompt_tokens", prompt),
    outputTokens: cumulative("generation_tokens", total("newTokensPerSecond", NIM_NAMES.outputTokens)),
    interToken: histogram("itlMs", NIM_NAMES.itlMs),
    ...reader.firstToken(NIM_NAMES.ttftP50Ms),
  };
  fault("newTokensPerSecond", prompt === null ? "missing" : "upper-bound");
  if (counters.interToken.length === 0) fault("itlMs", "missing");
  if (counters.firstToken.length === 0) fault("ttftP50Ms", "missing");
  return counters;
};
