/** vLLM: its page under the names of all its versions, and its model list, as an EngineReading. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import {
  type Engine,
  type EnginePayloads,
  type EngineReading,
  type ModelReading,
  NOTHING_FURTHER,
  ONE_PAGE,
} from "./engine.ts";
import { type Weights, weightsOf } from "./model-cards.ts";
import { capacityOf } from "./vllm-capacity.ts";
import { replicaReading } from "./vllm-replica.ts";

/** `vllm:` itself; Ray Serve turns the colon into an underscore and its exporter prefixes `ray_`. */
const PREFIXES = ["vllm:", "ray_vllm_", "vllm_", "ray_vllm:"] as const;

/** Without these nothing can be decided; old names stand behind the new ones. */
const REQUIRED: readonly (readonly string[])[] = [
  ["num_requests_running"],
  ["num_requests_waiting"],
  ["kv_cache_usage_perc", "gpu_cache_usage_perc"],
  ["prompt_tokens_total", "prompt_tokens"],
  ["generation_tokens_total", "generation_tokens"],
  ["time_to_first_token_seconds_count"],
];

/** One page holds one series per engine; more than this is no deployment but a fault. */
const MOST_ENGINES = 256;

export const vllm: Engine = {
  ...ONE_PAGE,
  name: "vllm",
  recognises: (names) => prefixAmong(names) !== null,
  owner: "vllm",
  read: (payloads) => (payloads.page === null ? readWithoutPage(payloads) : readPage(payloads.page, payloads)),
};

const prefixAmong = (names: readonly string[]): string | null =>
  PREFIXES.find((prefix) => names.some((name) => name.startsWith(prefix))) ?? null;

/** What the model list alone says; who knew the replicas before knows them still. */
const readWithoutPage = ({ models }: EnginePayloads): EngineReading => ({
  engine: "vllm",
  isMeasured: false,
  models: (weightsOf(models) ?? []).map((weights) => modelReading(weights.names[0] ?? "", weights)),
  sources: [],
  faults: [],
});

const modelReading = (model: string, weights: Weights | null): ModelReading => ({
  model,
  aliases: weights?.names.filter((name) => name !== model) ?? [],
  adapters: weights?.adapters ?? [],
  state: null,
  contextLimitTokens: weights?.contextLimitTokens ?? null,
  weightBytes: null,
  kvCapacityTokens: null,
  replicas: [],
});

const readPage = (page: Page, { models }: EnginePayloads): EngineReading => {
  const prefix = prefixAmong([...page.samples.keys()]) ?? "vllm:";
  const series = (name: string): readonly Sample[] => page.samples.get(prefix + name) ?? [];
  const faults = [...page.faults, ...brokenContract(series)];
  const listed = weightsOf(models) ?? [];
  const placed = enginesByModel(series);
  const capacity = placed.size > 1 ? null : capacityOf(series("cache_config_info"));
  if (capacity === null) faults.push({ field: "kvCapacityTokens", code: "capacity-unknown" });
  const read: ModelReading[] = [];
  for (const [model, engines] of placed) {
    const weights = listed.find(({ names }) => names.includes(model)) ?? null;
    if (weights === null && listed.length > 0) faults.push({ field: "aliases", code: "not-in-model-list" });
    const known = engines.size <= MOST_ENGINES ? [...engines] : [];
    if (engines.size > MOST_ENGINES) faults.push({ field: "replicas", code: "too-many-engines" });
    const replicas = known.map((engine) => replicaReading({ page, prefix, model, engine }));
    faults.push(...replicas.flatMap((replica) => replica.faults));
    read.push({
      ...modelReading(model, weights),
      kvCapacityTokens: capacity,
      replicas: replicas.map(({ reading }) => reading),
    });
  }
  const unmeasured = placed.size > 0 ? [] : readWithoutPage({ page: null, models, further: NOTHING_FURTHER }).models;
  return { engine: "vllm", isMeasured: true, models: [...read, ...unmeasured], sources: [], faults: distinct(faults) };
};

const brokenContract = (series: (name: string) => readonly Sample[]): readonly Fault[] =>
  REQUIRED.filter((names) => names.every((name) => series(name).length === 0)).map(([name = ""]) => ({
    field: `vllm:${name}`,
    code: "metrics-contract-broken",
  }));

/** By the series that every version has; a page without the `engine` label is one engine. */
const enginesByModel = (series: (name: string) => readonly Sample[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const placed = new Map<string, Set<string>>();
  for (const sample of REQUIRED.flat().flatMap(series)) {
    const model = labelOf(sample, "model_name");
    if (model === null || model === "") continue;
    const engines = placed.get(model) ?? new Set();
    placed.set(model, engines.add(labelOf(sample, "engine") ?? "0"));
  }
  return placed;
};

const distinct = (faults: readonly Fault[]): readonly Fault[] => {
  const seen = new Set<string>();
  return faults.filter(({ field, code }) => !seen.has(`${field} ${code}`) && seen.add(`${field} ${code}`));
};
