/** What vLLM's engines have counted since they started. */
import type { ReplicaState } from "#gtm/simulation/serving/replica.ts";
import { type EngineOnPage, type LabelsOf, seriesOf, type Values } from "./engine-series.ts";
import type { Family } from "./exposition.ts";

export const vllmCounters = (engines: readonly EngineOnPage[], labelsOf: LabelsOf): Family[] => {
  const counter = (name: string, help: string, values: Values, label: string | null = null): Family => ({
    kind: "counter",
    name: `vllm:${name}`,
    help,
    series: seriesOf(engines, labelsOf, values, label),
  });
  const counts = (pick: (counters: ReplicaState["counters"]) => number): Values => ({
    "": ({ state }) => pick(state.counters),
  });
  return [
    counter(
      "prefix_cache_queries",
      "Prefix cache queries, in terms of number of queried tokens.",
      counts((of) => of.prefixQueryTokens),
    ),
    counter(
      "prefix_cache_hits",
      "Prefix cache hits, in terms of number of cached tokens.",
      counts((of) => of.prefixHitTokens),
    ),
    counter(
      "external_prefix_cache_queries",
      "External prefix cache queries from KV connector cross-instance cache sharing.",
      counts(() => 0),
    ),
    counter(
      "external_prefix_cache_hits",
      "External prefix cache hits from KV connector cross-instance cache sharing.",
      counts(() => 0),
    ),
    counter(
      "num_preemptions",
      "Cumulative number of preemption from the engine.",
      counts(() => 0),
    ),
    counter(
      "prompt_tokens",
      "Number of prefill tokens processed.",
      counts((of) => of.promptTokens),
    ),
    counter(
      "prompt_tokens_by_source",
      "Number of prompt tokens by source.",
      {
        local_compute: ({ state }) => state.counters.computedTokens,
        local_cache_hit: ({ state }) => state.counters.cachedTokens,
        external_kv_transfer: () => 0,
      },
      "source",
    ),
    counter(
      "prompt_tokens_cached",
      "Number of cached prompt tokens (local + external).",
      counts((of) => of.cachedTokens),
    ),
    counter("generation_tokens", "Number of generation tokens processed.", {
      "": ({ state }) => state.decoded.outputTokens,
    }),
    counter(
      "request_success",
      "Count of successfully processed requests.",
      {
        stop: ({ state }) => state.counters.finished.stop,
        length: ({ state }) => state.counters.finished.length,
        abort: ({ state }) => state.counters.finished.abort,
        error: () => 0,
        repetition: () => 0,
      },
      "finished_reason",
    ),
  ];
};
