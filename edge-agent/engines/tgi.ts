/** Hugging Face TGI 3: its page, which names no model, and `/info`, which does. Counters have no `_total` there. */
import type { Page } from "../exposition.ts";
import { labelOf } from "../exposition-line.ts";
import {
  type Counters,
  type Engine,
  type EnginePayloads,
  type EngineReading,
  type FieldNames,
  NO_COUNTERS,
  ONE_PAGE,
  UNMEASURED,
} from "./engine.ts";
import { numberIn, textIn } from "./json.ts";
import { brokenContract, listedModels, modelReading, unmeasuredReading } from "./model-reading.ts";
import {
  allSamples,
  createReader,
  cumulative,
  difference,
  distinctFaults,
  distinctSources,
  type Pick,
  type Reader,
  UPPER_BOUND,
} from "./reader.ts";

const INFO = "/info";

const TGI_NAMES = {
  requestsRunning: ["tgi_batch_current_size"],
  requestsWaiting: ["tgi_queue_size"],
  /** `tgi_batch_total_tokens` in some documents. */
  kvCapacityTokens: ["tgi_batch_max_total_tokens", "tgi_batch_total_tokens"],
  /** What the batch can grow to. */
  kvReservedTokens: ["tgi_batch_current_max_tokens"],
  promptTokens: ["tgi_request_input_length_sum"],
  skippedTokens: ["tgi_request_skipped_tokens_sum"],
  skippedRequests: ["tgi_request_skipped_tokens_count"],
  outputTokens: ["tgi_request_generated_tokens_sum"],
  prefillTokensPerSecond: ["tgi_batch_forward_duration"],
  itlMs: ["tgi_request_mean_time_per_token_duration"],
} as const satisfies FieldNames;

const REQUIRED = [
  TGI_NAMES.requestsRunning,
  TGI_NAMES.requestsWaiting,
  ["tgi_request_input_length_count"],
  ["tgi_request_generated_tokens_count"],
] as const;

export const tgi: Engine = {
  ...ONE_PAGE,
  name: "tgi",
  names: TGI_NAMES,
  recognises: (names) => names.some((name) => name.startsWith("tgi_")),
  // Its model list says the model's name there.
  owner: null,
  tellingPaths: [INFO],
  tells: (further) => textIn(infoIn(further), "router") === "text-generation-router",
  firstPaths: ["/metrics", INFO],
  read: (payloads) => (payloads.page === null ? unmeasured(payloads) : readPage(payloads.page, payloads)),
};

const infoIn = (further: EnginePayloads["further"]): unknown => {
  const answer = further.get(INFO);
  return answer?.kind === "json" ? answer.json : undefined;
};

const unmeasured = (payloads: EnginePayloads): EngineReading => ({
  ...unmeasuredReading("tgi", null),
  models: namesOf(payloads).map((model) => withInfo(model, payloads)),
});

/** One server serves one model. */
const namesOf = ({ models, further }: EnginePayloads): readonly string[] =>
  [textIn(infoIn(further), "model_id") ?? listedModels(models)[0]?.model ?? null].filter((name) => name !== null);

const withInfo = (model: string, { further }: EnginePayloads) => {
  const limit = numberIn(infoIn(further), "max_total_tokens");
  return {
    ...modelReading(model, null),
    contextLimitTokens: limit !== null && Number.isSafeInteger(limit) && limit > 0 ? limit : null,
  };
};

const readPage = (page: Page, payloads: EnginePayloads): EngineReading => {
  const reader = createReader({ page, prefix: "", own: allSamples });
  const [model = ""] = namesOf(payloads);
  if (model === "") reader.fault("model", "model-unknown");
  const capacity = reader.total("kvCapacityTokens", TGI_NAMES.kvCapacityTokens);
  if (capacity === null || capacity === 0) reader.fault("kvCapacityTokens", "capacity-unknown");
  const replica = {
    ...UNMEASURED,
    requestsRunning: reader.gauge("requestsRunning", TGI_NAMES.requestsRunning),
    requestsWaiting: reader.gauge("requestsWaiting", TGI_NAMES.requestsWaiting),
    kvCacheUsedFraction: reservedShare(reader, capacity),
    counters: countersOf(reader),
  };
  for (const field of ["startedAtMs", "ttftP50Ms"]) reader.fault(field, "not-exported");
  return {
    engine: "tgi",
    isMeasured: true,
    models: [{ ...withInfo(model, payloads), kvCapacityTokens: capacity === 0 ? null : capacity, replicas: [replica] }],
    sources: distinctSources(reader.sources()),
    faults: distinctFaults([...page.faults, ...brokenContract(page, "", REQUIRED), ...reader.faults()]),
  };
};

/** More than is in use: what the running requests may grow to is reserved. */
const reservedShare = ({ total, fault }: Reader, capacity: number | null): number | null => {
  const reserved = total("kvCacheUsedFraction", TGI_NAMES.kvReservedTokens);
  if (reserved === null || capacity === null || capacity === 0) {
    fault("kvCacheUsedFraction", "missing");
    return null;
  }
  fault("kvCacheUsedFraction", "upper-bound");
  return Math.min(1, reserved / capacity);
};

const prefills: Pick = (samples) => samples.filter((sample) => labelOf(sample, "method") === "prefill");

/** All but the batches' durations advance when a request ends. */
const countersOf = (reader: Reader): Counters => {
  const { total, histogram, fault } = reader;
  const prompt = total("newTokensPerSecond", TGI_NAMES.promptTokens);
  const skipped = skippedTokens(reader);
  const output = total("newTokensPerSecond", TGI_NAMES.outputTokens);
  const counters: Counters = {
    ...NO_COUNTERS,
    computedTokens: [
      ...cumulative("input_length - skipped_tokens", difference(prompt, skipped)),
      ...cumulative(UPPER_BOUND, prompt),
    ],
    promptTokens: cumulative("input_length", prompt),
    outputTokens: cumulative("generated_tokens", output),
    // Skipped tokens are those that a prefix cache had; an approximation, since they are counted per request.
    prefixCache: cumulative("skipped_tokens of input_length", prompt, skipped, 0),
    prefill: histogram("prefillTokensPerSecond", TGI_NAMES.prefillTokensPerSecond, prefills),
    interToken: histogram("itlMs", TGI_NAMES.itlMs),
  };
  if (counters.prefixCache.length === 0) fault("prefixHitFraction", "not-exported");
  if (counters.computedTokens[0]?.source === UPPER_BOUND) fault("newTokensPerSecond", "upper-bound");
  if (counters.prefill.length === 0) fault("prefillTokensPerSecond", "missing");
  if (counters.interToken.length === 0) fault("itlMs", "missing");
  return counters;
};

/** Where no request was ever counted, nobody counts: that is no cache without hits. */
const skippedTokens = ({ find, total }: Reader): number | null => {
  const isCounted = find(TGI_NAMES.skippedRequests).samples.some(({ value }) => value > 0);
  return isCounted ? total("prefixHitFraction", TGI_NAMES.skippedTokens) : null;
};
