/** SGLang 0.4 and 0.5: its page, its loads and its server's facts as an EngineReading. */
import { EMPTY_PAGE, type Fault, type Page } from "../exposition.ts";
import { labelOf } from "../exposition-line.ts";
import { type Engine, type EnginePayloads, type EngineReading, type ModelReading, ONE_PAGE } from "./engine.ts";
import {
  brokenContract,
  labelValuesOn,
  listedModels,
  modelReading,
  prefixed,
  unmeasuredReading,
  weightsFor,
} from "./model-reading.ts";
import { NIM_PAGE, tellsAtNim } from "./nim-page.ts";
import { createReader, distinctFaults, distinctSources, type Reader } from "./reader.ts";
import { oncePerRank } from "./sglang-counters.ts";
import { LOADS, loadsIn, OLD_SERVER_INFO, SERVER_INFO, type SglangLoads, serverInfoIn } from "./sglang-loads.ts";
import { SGLANG_NAMES, SGLANG_PREFIXES, SGLANG_REQUIRED } from "./sglang-names.ts";
import { sglangReplica } from "./sglang-replica.ts";

export const sglang: Engine = {
  ...ONE_PAGE,
  name: "sglang",
  names: Object.fromEntries(
    SGLANG_PREFIXES.map((prefix) => [prefix, Object.values(prefixed(prefix, SGLANG_NAMES)).flat()]),
  ),
  recognises: (names) => prefixAmong(names) !== null,
  tells: tellsAtNim((names) => prefixAmong(names) !== null),
  owner: "sglang",
  metricsPaths: ["/metrics", NIM_PAGE],
  firstPaths: ["/metrics", LOADS],
  nextPaths: ({ further }) => [
    ...(further.get("/metrics")?.kind === "unknown" ? [NIM_PAGE] : []),
    ...(further.get(LOADS)?.kind === "json" ? [] : [SERVER_INFO]),
    ...(further.get(SERVER_INFO)?.kind === "unknown" ? [OLD_SERVER_INFO] : []),
  ],
  // While it starts and while it ends; who is new there is starting.
  unavailableMeans: "loading",
  read: (payloads) => {
    const loads = loadsIn(payloads.further);
    return payloads.page === null && loads === null
      ? unmeasuredReading("sglang", payloads.models)
      : readMeasured(payloads, loads);
  },
};

const prefixAmong = (names: readonly string[]): string | null =>
  SGLANG_PREFIXES.find((prefix) => names.some((name) => name.startsWith(prefix))) ?? null;

/** Without a page (`--enable-metrics` is off) the loads still say how busy it is. */
const readMeasured = ({ page, models, further }: EnginePayloads, loads: SglangLoads | null): EngineReading => {
  const prefix = prefixAmong([...(page?.samples.keys() ?? [])]) ?? "sglang:";
  const faults: Fault[] = page === null ? [] : [...page.faults, ...brokenContract(page, prefix, SGLANG_REQUIRED)];
  const listed = listedModels(models);
  const named =
    page === null
      ? []
      : labelValuesOn(
          page,
          SGLANG_REQUIRED.flat().map((name) => prefix + name),
          "model_name",
        );
  const names = named.length > 0 ? named : listed.slice(0, 1).map(({ model }) => model);
  if (names.length === 0) faults.push({ field: "model", code: "model-unknown" });
  const info = serverInfoIn(further);
  const readers: Reader[] = [];
  const read = (names.length > 0 ? names : [""]).map((model): ModelReading => {
    const reader = readerOf(page ?? EMPTY_PAGE, prefix, model);
    readers.push(reader);
    // Loads speak of the whole server: beside several models nobody knows whose they are.
    const replica = sglangReplica(reader, names.length > 1 ? null : loads, info.kvCapacityTokens);
    const base = modelReading(model, weightsFor(model, models, faults));
    const contextLimit = reader.total("contextLimitTokens", SGLANG_NAMES.contextLimitTokens, (samples) =>
      samples.slice(0, 1),
    );
    return {
      ...base,
      contextLimitTokens:
        base.contextLimitTokens ?? (contextLimit === 0 ? null : contextLimit) ?? info.contextLimitTokens,
      kvCapacityTokens: replica.kvCapacityTokens,
      replicas: [replica.reading],
    };
  });
  return {
    engine: "sglang",
    isMeasured: true,
    models: read,
    sources: distinctSources(readers.flatMap((reader) => reader.sources())),
    faults: distinctFaults([...faults, ...readers.flatMap((reader) => reader.faults())]),
  };
};

const readerOf = (page: Page, prefix: string, model: string): Reader =>
  createReader({
    page,
    prefix,
    own: (samples) => oncePerRank(samples.filter((sample) => (labelOf(sample, "model_name") ?? model) === model)),
  });
