/** trtllm-serve: its Prometheus page in both generations, and its list of iterations, as an EngineReading. */
import { EMPTY_PAGE, type Fault } from "../exposition.ts";
import { labelOf } from "../exposition-line.ts";
import {
  type Counters,
  type Engine,
  type EnginePayloads,
  type EngineReading,
  type ModelReading,
  NO_COUNTERS,
  ONE_PAGE,
  UNMEASURED,
} from "./engine.ts";
import {
  brokenContract,
  labelValuesOn,
  listedModels,
  modelReading,
  unmeasuredReading,
  weightsFor,
} from "./model-reading.ts";
import { createReader, cumulative, difference, distinctFaults, distinctSources, type Reader } from "./reader.ts";
import { ITERATIONS, type Iteration, iterationsIn, tellsIterations } from "./trtllm-iterations.ts";
import { TRTLLM_NAMES, TRTLLM_PAGE, TRTLLM_REQUIRED } from "./trtllm-names.ts";

const OLD_PAGE = ["request_queue_time_seconds_count", "time_to_first_token_seconds_count"];

export const trtllm: Engine = {
  ...ONE_PAGE,
  name: "trtllm",
  names: TRTLLM_NAMES,
  recognises: (names) =>
    names.some((name) => name.startsWith("trtllm_")) ||
    // NIM has unprefixed names too, and those of queues among them.
    (OLD_PAGE.every((name) => names.includes(name)) && !names.includes("num_requests_running")),
  owner: "tensorrt_llm",
  tellingPaths: [ITERATIONS, TRTLLM_PAGE],
  tells: tellsIterations,
  metricsPaths: [TRTLLM_PAGE],
  firstPaths: [TRTLLM_PAGE, ITERATIONS],
  read: (payloads) => {
    const iterations = iterationsIn(payloads.further);
    const iteration = iterations.kind === "newest" ? iterations.iteration : null;
    const isDrained = iterations.kind === "drained";
    if (payloads.page !== null || iteration !== null) return readMeasured(payloads, iteration, isDrained);
    const reading = unmeasuredReading("trtllm", payloads.models);
    return isDrained ? { ...reading, faults: [{ field: ITERATIONS, code: "drained" }] } : reading;
  },
};

const readMeasured = (
  { page, models }: EnginePayloads,
  iteration: Iteration | null,
  isDrained: boolean,
): EngineReading => {
  const isPrefixed = page !== null && [...page.samples.keys()].some((name) => name.startsWith("trtllm_"));
  const faults: Fault[] = [...(page?.faults ?? []), ...(isPrefixed ? brokenContract(page, "", TRTLLM_REQUIRED) : [])];
  // An idle engine makes no iterations; the page of the newer generation does without them.
  if (isDrained && !isPrefixed) faults.push({ field: ITERATIONS, code: "drained" });
  // Old versions write the literal "undefined" where a label is not set.
  const named =
    page === null ? [] : labelValuesOn(page, MODEL_NAMED, "model_name").filter((name) => name !== "undefined");
  const listed = listedModels(models).map(({ model }) => model);
  const names = named.length > 0 ? named : listed.slice(0, 1);
  if (names.length === 0) faults.push({ field: "model", code: "model-unknown" });
  const readers: Reader[] = [];
  const read = (names.length > 0 ? names : [""]).map((model): ModelReading => {
    const own = (name: string | null): boolean => name === null || name === "undefined" || name === model;
    const reader = createReader({
      page: page ?? EMPTY_PAGE,
      prefix: "",
      own: (samples) => samples.filter((sample) => own(labelOf(sample, "model_name"))),
    });
    readers.push(reader);
    return {
      ...modelReading(model, weightsFor(model, models, faults)),
      ...measuredOf(reader, names.length > 1 ? null : iteration),
    };
  });
  return {
    engine: "trtllm",
    isMeasured: true,
    models: read,
    sources: distinctSources(readers.flatMap((reader) => reader.sources())),
    faults: distinctFaults([...faults, ...readers.flatMap((reader) => reader.faults())]),
  };
};

const MODEL_NAMED = [...TRTLLM_REQUIRED.flat(), ...TRTLLM_NAMES.ttftP50Ms.map((name) => `${name}_count`)];

const measuredOf = (
  reader: Reader,
  iteration: Iteration | null,
): Pick<ModelReading, "gpuMemoryBytes" | "kvCapacityTokens" | "replicas"> => {
  const { total, fault, source } = reader;
  const blocks = total("kvCapacityTokens", TRTLLM_NAMES.kvMaxBlocks);
  const tokensPerBlock = total("kvCapacityTokens", TRTLLM_NAMES.kvTokensPerBlock);
  /** What the page does not have, the iterations may. */
  const orIteration = (field: string, own: number | null, key: string, other: number | null | undefined) => {
    if (own !== null) return own;
    if (other === null || other === undefined)
      fault(field, field === "kvCapacityTokens" ? "capacity-unknown" : "missing");
    else source(field, `${ITERATIONS} ${key}`);
    return other ?? null;
  };
  const capacity = orIteration(
    "kvCapacityTokens",
    blocks === null || tokensPerBlock === null ? null : blocks * tokensPerBlock,
    "kvCacheStats.maxNumBlocks",
    iteration?.kvCapacityTokens,
  );
  const hasShare = reader.find(TRTLLM_NAMES.kvCacheUsedFraction).samples.length > 0;
  const share = hasShare
    ? reader.fraction("kvCacheUsedFraction", TRTLLM_NAMES.kvCacheUsedFraction)
    : blockShare(reader, blocks);
  const replica = {
    ...UNMEASURED,
    requestsRunning: orIteration(
      "requestsRunning",
      total("requestsRunning", TRTLLM_NAMES.requestsRunning),
      "numActiveRequests",
      iteration?.requestsRunning,
    ),
    requestsWaiting: orIteration(
      "requestsWaiting",
      total("requestsWaiting", TRTLLM_NAMES.requestsWaiting),
      "numQueuedRequests",
      iteration?.requestsWaiting,
    ),
    kvCacheUsedFraction: orIteration("kvCacheUsedFraction", share, "kvCacheStats.usedNumBlocks", usedShare(iteration)),
    counters: countersOf(reader, iteration),
  };
  fault("startedAtMs", "not-exported");
  const gpuMemoryBytes = total("gpuMemoryBytes", TRTLLM_NAMES.gpuMemoryBytes) ?? iteration?.gpuMemoryBytes ?? null;
  return { gpuMemoryBytes, kvCapacityTokens: capacity === 0 ? null : capacity, replicas: [replica] };
};

/** @returns null where used ones are not said, neither as such nor as those that are not free */
const blockShare = ({ total }: Reader, blocks: number | null): number | null => {
  const free = total("kvCacheUsedFraction", TRTLLM_NAMES.kvFreeBlocks);
  const used = total("kvCacheUsedFraction", TRTLLM_NAMES.kvUsedBlocks) ?? difference(blocks, free);
  return used === null || !blocks || used < 0 || used > blocks ? null : used / blocks;
};

const usedShare = (iteration: Iteration | null): number | null =>
  iteration === null || iteration.usedBlocks === null || !iteration.maxBlocks
    ? null
    : Math.min(1, iteration.usedBlocks / iteration.maxBlocks);

const countersOf = (reader: Reader, iteration: Iteration | null): Counters => {
  const { total, histogram, fault } = reader;
  const prompt = total("newTokensPerSecond", TRTLLM_NAMES.promptTokens);
  const cached = total("prefixHitFraction", TRTLLM_NAMES.cachedTokens);
  const reused = total("prefixHitFraction", TRTLLM_NAMES.reusedBlocks);
  const missed = total("prefixHitFraction", TRTLLM_NAMES.missedBlocks);
  const counters: Counters = {
    ...NO_COUNTERS,
    computedTokens: cumulative("prompt_tokens - prompt_cached_tokens", difference(prompt, cached)),
    promptTokens: cumulative("prompt_tokens", prompt),
    outputTokens: cumulative("generation_tokens", total("newTokensPerSecond", TRTLLM_NAMES.outputTokens)),
    prefixCache: [
      ...hits("kv_cache blocks", reused, missed),
      ...cumulative("prompt_cached_tokens", prompt, cached, 0),
      ...hits("iterations' blocks", iteration?.reusedBlocks ?? null, iteration?.missedBlocks ?? null),
    ],
    prefill: histogram("prefillTokensPerSecond", TRTLLM_NAMES.prefillTokensPerSecond),
    decode: histogram("backlogMs", TRTLLM_NAMES.decodeMs),
    interToken: histogram("itlMs", TRTLLM_NAMES.itlMs),
    ...reader.firstToken(TRTLLM_NAMES.ttftP50Ms),
  };
  if (counters.prefixCache.length === 0) fault("prefixHitFraction", "missing");
  if (counters.prefill.length === 0) fault("prefillTokensPerSecond", "missing");
  if (counters.interToken.length === 0) fault("itlMs", "missing");
  if (counters.firstToken.length === 0) fault("ttftP50Ms", "missing");
  if (counters.computedTokens.length === 0) fault("newTokensPerSecond", "missing");
  return counters;
};

const hits = (source: string, reused: number | null, missed: number | null) =>
  cumulative(source, reused === null || missed === null ? null : reused + missed, reused, 0);
