/** One llama.cpp process as a replica: its page, and its slots. */
import type { Page } from "../exposition.ts";
import { type Counters, type Further, NO_COUNTERS, type ReplicaReading, UNMEASURED } from "./engine.ts";
import { type Props, slotsIn } from "./llama-cpp-slots.ts";
import { cumulative, type Reader } from "./reader.ts";

/** Newest first. `*_tokens_seconds` are means since anybody scraped last, and are never read. */
export const LLAMA_CPP_NAMES = {
  requestsRunning: ["requests_processing"],
  requestsWaiting: ["requests_deferred"],
  /** Removed in May 2025 (llama.cpp#13660). */
  kvCacheUsedFraction: ["kv_cache_usage_ratio"],
  computedTokens: ["prompt_tokens_total"],
  cachedTokens: ["prompt_tokens_cached_total"],
  prefillSeconds: ["prompt_seconds_total"],
  outputTokens: ["tokens_predicted_total"],
  decodeSeconds: ["tokens_predicted_seconds_total"],
} as const;

export const LLAMA_CPP_REQUIRED: readonly (readonly string[])[] = [
  LLAMA_CPP_NAMES.requestsRunning,
  LLAMA_CPP_NAMES.requestsWaiting,
  LLAMA_CPP_NAMES.computedTokens,
  LLAMA_CPP_NAMES.outputTokens,
];

export type LlamaCppAnswers = {
  readonly page: Page | null;
  /** Why there is no page. */
  readonly pageCode: string;
  readonly slots: Further | undefined;
  readonly props: Props;
};

/** @param engine the replica's label: a router has one process a model */
export const llamaCppReplica = (engine: string, answers: LlamaCppAnswers, reader: Reader): ReplicaReading => {
  const slots = slotsIn(answers.slots);
  const { fault, source } = reader;
  // No name of its own tells when it started, and it keeps no histogram.
  for (const field of ["startedAtMs", "ttftP50Ms"]) fault(field, "not-exported");
  const isPaged = answers.page !== null;
  const running = isPaged
    ? reader.gauge("requestsRunning", LLAMA_CPP_NAMES.requestsRunning)
    : (slots?.processing ?? null);
  if (!isPaged) {
    const code = answers.pageCode === "http-501" ? "metrics-disabled" : answers.pageCode;
    for (const field of ["requestsWaiting", "newTokensPerSecond", "prefillTokensPerSecond"]) fault(field, code);
    if (slots === null) fault("requestsRunning", code);
    else source("requestsRunning", "/slots is_processing");
  }
  return {
    ...UNMEASURED,
    engine,
    isAsleep: answers.props.isSleeping,
    requestsRunning: running,
    requestsWaiting: isPaged ? reader.gauge("requestsWaiting", LLAMA_CPP_NAMES.requestsWaiting) : null,
    ...useOf(slots?.usedTokens ?? null, answers, reader),
    counters: isPaged ? countersOf(reader) : NO_COUNTERS,
  };
};

/** Kept contexts count as used, so that use is nearly what resides. */
const useOf = (
  usedTokens: number | null,
  { props: { capacityTokens } }: LlamaCppAnswers,
  reader: Reader,
): Pick<ReplicaReading, "kvCacheUsedFraction" | "kvResidentFraction"> => {
  if (usedTokens !== null && capacityTokens !== null) {
    const used = Math.min(1, usedTokens / capacityTokens);
    reader.source("kvCacheUsedFraction", "/slots n_prompt_tokens ÷ /props total_slots × n_ctx");
    return { kvCacheUsedFraction: used, kvResidentFraction: used };
  }
  if (reader.find(LLAMA_CPP_NAMES.kvCacheUsedFraction).samples.length > 0) {
    return {
      kvCacheUsedFraction: reader.fraction("kvCacheUsedFraction", LLAMA_CPP_NAMES.kvCacheUsedFraction),
      kvResidentFraction: null,
    };
  }
  reader.fault("kvCacheUsedFraction", capacityTokens === null ? "missing" : "slots-disabled");
  return { kvCacheUsedFraction: null, kvResidentFraction: null };
};

const countersOf = (reader: Reader): Counters => {
  const { total, fault, source } = reader;
  // Cached tokens are not in it.
  const computed = total("newTokensPerSecond", LLAMA_CPP_NAMES.computedTokens);
  const cached = total("prefixHitFraction", LLAMA_CPP_NAMES.cachedTokens);
  const output = total("newTokensPerSecond", LLAMA_CPP_NAMES.outputTokens);
  const prompt = computed === null || cached === null ? null : computed + cached;
  const prefillSeconds = total("prefillTokensPerSecond", LLAMA_CPP_NAMES.prefillSeconds);
  const decodeSeconds = total("itlMs", LLAMA_CPP_NAMES.decodeSeconds);
  if (cached === null) fault("prefixHitFraction", "missing");
  if (prefillSeconds === null) fault("prefillTokensPerSecond", "missing");
  else source("prefillTokensPerSecond", "llamacpp:prompt_tokens_total");
  return {
    ...NO_COUNTERS,
    computedTokens: cumulative("prompt_tokens", computed),
    promptTokens: cumulative("prompt_tokens + prompt_tokens_cached", prompt),
    outputTokens: cumulative("tokens_predicted", output),
    prefixCache: cumulative("prompt_tokens_cached", prompt, cached, 0),
    prefillBusy: cumulative("prompt_tokens, prompt_seconds", computed, prefillSeconds),
    interToken: cumulative("tokens_predicted", output, decodeSeconds),
  };
};
