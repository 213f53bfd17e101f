/** vLLM: its page under the names of all its versions, and its model list, as an EngineReading. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import {
  type Engine,
  type EnginePayloads,
  type EngineReading,
  type Further,
  type ModelReading,
  ONE_PAGE,
} from "./engine.ts";
import {
  brokenContract,
  listedModels,
  modelReading,
  prefixed,
  unmeasuredReading,
  weightsFor,
} from "./model-reading.ts";
import { NIM_PAGE, tellsAtNim } from "./nim-page.ts";
import { distinctFaults, distinctSources } from "./reader.ts";
import { capacityOf } from "./vllm-capacity.ts";
import { VLLM_NAMES, VLLM_PREFIXES, VLLM_REQUIRED } from "./vllm-names.ts";
import { adaptersAtWork, type ReplicaFound, replicaReading, replicaSamples } from "./vllm-replica.ts";
import { IS_SLEEPING, isAsleepIn, sleepPaths } from "./vllm-sleep.ts";

/** One page holds one series per engine; more than this is no deployment but a fault. */
const MOST_ENGINES = 256;

export const vllm: Engine = {
  ...ONE_PAGE,
  name: "vllm",
  names: Object.fromEntries(
    VLLM_PREFIXES.map((prefix) => [prefix, Object.values(prefixed(prefix, VLLM_NAMES)).flat()]),
  ),
  recognises: (names) => prefixAmong(names) !== null,
  tells: tellsAtNim((names) => prefixAmong(names) !== null),
  owner: "vllm",
  // A NIM that is made of vLLM has vLLM's own names there.
  metricsPaths: ["/metrics", NIM_PAGE],
  nextPaths: ({ further }, onAPage) => [
    ...(isNotThere(further.get("/metrics")) ? [NIM_PAGE] : []),
    ...sleepPaths(further, onAPage),
  ],
  optionalPaths: [IS_SLEEPING],
  read: ({ page, models, further }) => {
    const isAsleep = isAsleepIn(further);
    return page === null ? unmeasured(models, isAsleep) : readPage(page, models, isAsleep);
  },
};

/** Without a page nothing else tells a model that sleeps from one that serves. */
const unmeasured = (models: EnginePayloads["models"], isAsleep: boolean | null): EngineReading => {
  const reading = unmeasuredReading("vllm", models);
  if (isAsleep !== true) return reading;
  return { ...reading, models: reading.models.map((model) => ({ ...model, state: "asleep" })) };
};

const isNotThere = (answer: Further | undefined): boolean => answer?.kind === "unknown" && answer.code === "http-404";

/** The one that most names have: an alias may stand for a name in another spelling than the page's. */
const prefixAmong = (names: readonly string[]): string | null => {
  const counted = VLLM_PREFIXES.map((prefix) => ({
    prefix,
    count: names.filter((name) => name.startsWith(prefix)).length,
  })).filter(({ count }) => count > 0);
  return counted.toSorted((a, b) => b.count - a.count)[0]?.prefix ?? null;
};

const readPage = (page: Page, models: EnginePayloads["models"], isAsleep: boolean | null): EngineReading => {
  const prefix = prefixAmong([...page.samples.keys()]) ?? "vllm:";
  const series = (name: string): readonly Sample[] => page.samples.get(prefix + name) ?? [];
  // Told by vLLM's own spelling, whoever wrote the page.
  const faults = [...page.faults, ...brokenContract(page, prefix, VLLM_REQUIRED).map(inOwnSpelling(prefix))];
  const labelled = enginesByModel(series);
  const placed = labelled.size > 0 ? labelled : enginesOfOnly(series, models);
  const capacity = placed.size > 1 ? null : capacityOf(series("cache_config_info"));
  if (capacity === null) faults.push({ field: "kvCapacityTokens", code: "capacity-unknown" });
  const atWork = placed.size > 1 ? [] : adaptersAtWork(series("lora_requests_info"));
  const found: ReplicaFound[] = [];
  const read: ModelReading[] = [];
  for (const [model, engines] of placed) {
    const listed = modelReading(model, weightsFor(model, models, faults));
    if (engines.size > MOST_ENGINES) faults.push({ field: "replicas", code: "too-many-engines" });
    const known = engines.size <= MOST_ENGINES ? [...engines] : [];
    const replicas = known.map((engine) =>
      replicaReading({ page, prefix, engine, own: replicaSamples(labelled.size > 0 ? model : "", engine), isAsleep }),
    );
    found.push(...replicas);
    read.push({
      ...listed,
      adapters: [...new Set([...listed.adapters, ...atWork])],
      kvCapacityTokens: capacity,
      replicas: replicas.map(({ reading }) => reading),
    });
  }
  const ofCapacity = capacity === null ? [] : [{ field: "kvCapacityTokens", source: `${prefix}cache_config_info` }];
  return {
    engine: "vllm",
    isMeasured: true,
    models: read.length > 0 ? read : listedModels(models),
    sources: distinctSources([...found.flatMap(({ sources }) => sources), ...ofCapacity]),
    faults: distinctFaults([...faults, ...found.flatMap((replica) => replica.faults)]),
  };
};

const inOwnSpelling =
  (prefix: string) =>
  ({ field, code }: Fault): Fault => ({ field: `vllm:${field.slice(prefix.length)}`, code });

/** Where something on the way took the label away: of a server that lists one model, they can only be that one's. */
const enginesOfOnly = (
  series: (name: string) => readonly Sample[],
  models: EnginePayloads["models"],
): ReadonlyMap<string, ReadonlySet<string>> => {
  const [only, ...others] = listedModels(models);
  const engines = new Set(
    VLLM_REQUIRED.flat()
      .flatMap(series)
      .map((sample) => labelOf(sample, "engine") ?? "0"),
  );
  return only === undefined || others.length > 0 || engines.size === 0 ? new Map() : new Map([[only.model, engines]]);
};

/** By the series that every version has; a page without the `engine` label is one engine. */
const enginesByModel = (series: (name: string) => readonly Sample[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const placed = new Map<string, Set<string>>();
  for (const sample of VLLM_REQUIRED.flat().flatMap(series)) {
    const model = labelOf(sample, "model_name");
    if (model === null || model === "") continue;
    const engines = placed.get(model) ?? new Set();
    placed.set(model, engines.add(labelOf(sample, "engine") ?? "0"));
  }
  return placed;
};
