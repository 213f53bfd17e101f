/** What vLLM's engines say of this moment. */
import { type EngineOnPage, type LabelsOf, seriesOf, type Values } from "./engine-series.ts";
import type { Family } from "./exposition.ts";

type Moment = { readonly engines: readonly EngineOnPage[]; readonly isAsleep: boolean };

export const vllmGauges = ({ engines, isAsleep }: Moment, labelsOf: LabelsOf): Family[] => {
  const gauge = (name: string, help: string, values: Values, label: string | null = null): Family => ({
    kind: "gauge",
    name: `vllm:${name}`,
    help,
    series: seriesOf(engines, labelsOf, values, label),
  });
  return [
    gauge("num_requests_running", "Number of requests in model execution batches.", {
      "": ({ state }) => state.running,
    }),
    gauge("num_requests_waiting", "Number of requests waiting to be processed.", { "": ({ state }) => state.waiting }),
    gauge(
      "num_requests_waiting_by_reason",
      "Number of waiting requests by reason.",
      { capacity: ({ state }) => state.waiting, deferred: () => 0 },
      "reason",
    ),
    gauge(
      "engine_sleep_state",
      "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake.",
      {
        awake: () => (isAsleep ? 0 : 1),
        weights_offloaded: () => 0,
        discard_all: () => (isAsleep ? 1 : 0),
      },
      "sleep_state",
    ),
    gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", {
      "": ({ state }) => state.kvUsedFraction,
    }),
  ];
};
