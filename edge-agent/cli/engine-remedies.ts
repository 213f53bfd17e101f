/** Which flag or setting of an engine provides what is missing, engine by engine; names as the engines' documentation has them. */

type EngineRemedy = {
  readonly engine: string;
  readonly field: RegExp;
  readonly code: RegExp;
  readonly isProblem: boolean;
  readonly advice: string;
};

const MISSING = /^(?:http-404|http-501|missing|metrics-disabled)$/;

const REMEDIES: readonly EngineRemedy[] = [
  remedy("vllm", /^page$/, /^http-404$/, "There are no metrics: start vLLM without --disable-log-stats."),
  remedy("sglang", /^page$/, MISSING, "There are no metrics: start SGLang with --enable-metrics."),
  remedy("llama-cpp", /./, /^metrics-disabled$/, "There are no metrics: start llama-server with --metrics."),
  remedy("llama-cpp", /^page$/, /^http-501$/, "There are no metrics: start llama-server with --metrics."),
  remedy("trtllm", /^page$/, MISSING, "Set enable_iter_perf_stats: true and return_perf_metrics: true in its options."),
  remedy("dynamo", /^page$/, MISSING, "Workers answer where DYN_SYSTEM_PORT is set, such as 8081."),
  remedy("ollama", /^models$/, /^http-404$/, "Old versions have no /v1/models; /api/tags is read in its place.", false),
  remedy(
    "llama-cpp",
    /./,
    /^slots-disabled$/,
    "Start llama-server without --no-slots: nothing else says how full it is.",
    false,
  ),
  remedy(
    "llama-cpp",
    /^prefixHitFraction$/,
    /^missing$/,
    "Upgrade: newer versions have llamacpp:prompt_tokens_cached_total.",
    false,
  ),
  remedy("llama-cpp", /^ttftP50Ms$/, /^not-exported$/, "It has no histogram; a gateway measures first tokens.", false),
  remedy(
    "vllm",
    /^startedAtMs$/,
    /^missing$/,
    "With several API servers (--api-server-count) no start is told; restarts are seen by falling counters.",
    false,
  ),
  remedy(
    "vllm",
    /^prefixHitFraction$/,
    /^missing$/,
    "Prefix caching is off: start vLLM without --no-enable-prefix-caching.",
    false,
  ),
  remedy(
    "sglang",
    /^prefixHitFraction$/,
    /^missing$/,
    "Start SGLang without --disable-radix-cache, and upgrade where it is older than 0.5.9.",
    false,
  ),
  remedy(
    "sglang",
    /^prefillTokensPerSecond$/,
    /^missing$/,
    "Newer versions tell it in /v1/loads; set models[].prefill_tokens_per_second.",
    false,
  ),
  remedy("ollama", /./, /^not-exported$/, "Ollama has no metrics; a gateway in front of it knows all of this.", false),
];

function remedy(engine: string, field: RegExp, code: RegExp, advice: string, isProblem = true): EngineRemedy {
  return { engine, field, code, isProblem, advice };
}

/** What metrics cannot show, and a gateway needs: whether answers tell how much of a prompt was cached. */
const OF_ANSWERS: Readonly<Record<string, string>> = {
  vllm: "Answers tell cached tokens only with --enable-prompt-tokens-details; without it a gateway learns less of what is held.",
  sglang:
    "Answers tell cached tokens only with --enable-cache-report; without it a gateway learns less of what is held.",
};

/** @returns null where nothing special is known of this engine */
export const engineRemedy = (
  engine: string | null,
  field: string,
  code: string,
): { readonly isProblem: boolean; readonly advice: string } | null =>
  REMEDIES.find((one) => one.engine === engine && one.field.test(field) && one.code.test(code)) ?? null;

/** @returns null: nothing to add */
export const aboutAnswersOf = (engine: string | null): string | null =>
  engine === null ? null : (OF_ANSWERS[engine] ?? null);
