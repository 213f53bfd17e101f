/** Ollama: which models are in memory and which on disk. It has no metrics: how busy it is, nobody but a proxy in front can know. */
import type { Fault } from "../exposition.ts";
import {
  type Engine,
  type EnginePayloads,
  type EngineReading,
  type FieldSource,
  type ModelReading,
  UNMEASURED,
} from "./engine.ts";
import { listIn, numberIn, textIn } from "./json.ts";
import { modelReading } from "./model-reading.ts";

const RUNNING = "/api/ps";
const ON_DISK = "/api/tags";
const VERSION = "/api/version";

export const ollama: Engine = {
  name: "ollama",
  names: {},
  hasModelList: true,
  recognises: () => false,
  // `library`, or the name before the slash: neither tells.
  owner: null,
  tellingPaths: [VERSION, RUNNING],
  // Captured answers may be without the version.
  tells: (further) => (versionIn(further) || isListed(further, ON_DISK)) && isListed(further, RUNNING),
  guardsAll: false,
  metricsPaths: [],
  firstPaths: [RUNNING, ON_DISK],
  nextPaths: () => [],
  optionalPaths: [],
  healthPath: VERSION,
  unavailableMeans: "down",
  read: ({ further }) => {
    const running = listIn(jsonAt(further, RUNNING), "models");
    const onDisk = listIn(jsonAt(further, ON_DISK), "models");
    return reading(running, onDisk, codeAt(further, RUNNING));
  },
};

const jsonAt = (further: EnginePayloads["further"], path: string): unknown => {
  const answer = further.get(path);
  return answer?.kind === "json" ? answer.json : null;
};

const codeAt = (further: EnginePayloads["further"], path: string): string => {
  const answer = further.get(path);
  return answer?.kind === "unknown" ? answer.code : "missing";
};

const isListed = (further: EnginePayloads["further"], path: string): boolean =>
  listIn(jsonAt(further, path), "models") !== null;

const versionIn = (further: EnginePayloads["further"]): boolean => textIn(jsonAt(further, VERSION), "version") !== null;

/** What no path of it tells; the report leaves these empty. */
const NOT_EXPORTED = [
  "startedAtMs",
  "requestsRunning",
  "requestsWaiting",
  "kvCapacityTokens",
  "kvCacheUsedFraction",
  "prefixHitFraction",
  "newTokensPerSecond",
  "prefillTokensPerSecond",
  "itlMs",
  "ttftP50Ms",
] as const;

const SOURCES: readonly FieldSource[] = [
  { field: "state", source: "/api/ps" },
  { field: "contextLimitTokens", source: "/api/ps context_length" },
  { field: "weightBytes", source: "/api/tags size" },
  { field: "gpuMemoryBytes", source: "/api/ps size_vram" },
];

const reading = (
  running: readonly unknown[] | null,
  onDisk: readonly unknown[] | null,
  code: string,
): EngineReading => {
  const stored = (onDisk ?? []).filter(isOwn);
  const elsewhere = new Set((onDisk ?? []).filter((model) => !isOwn(model)).flatMap((model) => nameOf(model) ?? []));
  const loaded = (running ?? []).filter((model) => isOwn(model) && !elsewhere.has(nameOf(model) ?? ""));
  const faults = faultsOf(running, onDisk, code);
  const models = new Map<string, ModelReading>();
  for (const model of loaded) {
    const name = nameOf(model);
    if (name === null) continue;
    if (isPartlyOnCpu(model)) faults.push({ field: name, code: "partly-on-cpu" });
    models.set(name, loadedModel(name, model, stored));
  }
  for (const model of running === null ? [] : stored) {
    const name = nameOf(model);
    if (name !== null && !models.has(name)) models.set(name, { ...named(name, model), state: "on-disk" });
  }
  return { engine: ollama.name, isMeasured: running !== null, models: [...models.values()], sources: SOURCES, faults };
};

const faultsOf = (running: readonly unknown[] | null, onDisk: readonly unknown[] | null, code: string): Fault[] => [
  ...(running === null ? [{ field: "state", code }] : NOT_EXPORTED.map((field) => ({ field, code: "not-exported" }))),
  ...(onDisk === null ? [{ field: "weightBytes", code: "missing" }] : []),
];

const loadedModel = (name: string, model: unknown, stored: readonly unknown[]): ModelReading => ({
  ...named(
    name,
    stored.find((one) => nameOf(one) === name),
  ),
  state: "loaded",
  contextLimitTokens: wholeIn(model, "context_length"),
  gpuMemoryBytes: wholeIn(model, "size_vram"),
  replicas: [{ ...UNMEASURED, engine: name }],
});

/** Slow, and nobody says how slow. */
const isPartlyOnCpu = (model: unknown): boolean => {
  const [bytes, inGpu] = [numberIn(model, "size"), numberIn(model, "size_vram")];
  return bytes !== null && inGpu !== null && inGpu < bytes;
};

/** A model of Ollama's cloud is served there, whatever this region has. */
const isOwn = (model: unknown): boolean =>
  textIn(model, "remote_host") === null && textIn(model, "remote_model") === null;

const LATEST = ":latest";

const nameOf = (model: unknown): string | null => {
  const name = textIn(model, "name") ?? textIn(model, "model");
  if (name === null) return null;
  // The tag follows the last slash: a registry before it may have a port.
  return name.slice(name.lastIndexOf("/") + 1).includes(":") ? name : name + LATEST;
};

/** Without a tag its latest is meant. */
const named = (name: string, file: unknown): ModelReading => ({
  ...modelReading(name, null),
  aliases: name.endsWith(LATEST) ? [name.slice(0, -LATEST.length)] : [],
  weightBytes: wholeIn(file, "size"),
});

const wholeIn = (value: unknown, field: string): number | null => {
  const number = numberIn(value, field);
  return Number.isSafeInteger(number) && number !== 0 ? number : null;
};
