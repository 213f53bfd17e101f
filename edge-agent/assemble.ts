/** Readings, windows and configuration made into the region's report. */
import type { AgentId, RegionId } from "#shared/ids.ts";
import type {
  GpuReport,
  ModelGpusReport,
  ModelReport,
  ReadingReport,
  RegionReport,
  ReportFault,
} from "#shared/report.ts";
import { strayTiers, tiersOf } from "./cache-tiers.ts";
import type { Endpoint } from "./endpoint.ts";
import type { GpuUsers } from "./gpu/gpu-users.ts";
import { type Claims, modelGpus, sharers } from "./gpu/model-gpus.ts";
import { type ModelPlace, modelReport } from "./model-report.ts";
import type { ModelSettings } from "./replica-report.ts";
import { soundModel } from "./sound-model.ts";

export type Identity = { readonly region: RegionId; readonly agent: AgentId; readonly boot: string };

export type Gpus = {
  readonly gpus: readonly GpuReport[];
  readonly users: GpuUsers;
  readonly faults: readonly ReportFault[];
};

export type Round = {
  /** From 1. */
  readonly seq: number;
  readonly reportedAtMs: number;
  readonly endpoints: readonly Endpoint[];
  /** null: none are configured. */
  readonly gpus: Gpus | null;
  /** By address. */
  readonly claims: Claims;
  /** Of finding engines, not of reading them. */
  readonly faults: readonly ReportFault[];
};

const NO_SETTINGS: ModelSettings = {
  weightBytes: null,
  coldStartMs: null,
  prefillTokensPerSecond: null,
  kvCapacityTokens: null,
};

/** What RegionReport v1 allows; longer names are a fault and not a report that is refused as a whole. */
const LONGEST_MODEL = 256;
const LONGEST_REPLICA = 320;
const LONGEST_GPU = 128;
const LONGEST_SOURCE = 256;
const LONGEST_FIELD = 128;
const LONGEST_CODE = 64;
const MOST_FAULTS = 200;

export const assemble = (
  { region, agent, boot }: Identity,
  { seq, reportedAtMs, endpoints, gpus, claims, faults: ofDiscovery }: Round,
  settings: ReadonlyMap<string, ModelSettings>,
): RegionReport => {
  const faults = [...ofDiscovery, ...endpoints.flatMap((endpoint) => faultsOf(endpoint, settings))];
  const models: ModelReport[] = [];
  const placed = byModel(endpoints);
  const isAlone = placed.size === 1;
  const named = new Set<string>();
  const gpusBy = gpusByModel(placed, gpus, claims, faults);
  for (const [model, places] of placed) {
    const made = modelReport(model, places, settings.get(model) ?? NO_SETTINGS);
    const names = [model, ...made.report.aliases];
    for (const name of names) named.add(name);
    const report = { ...made.report, cacheTiers: tiersOf(names, endpoints, isAlone), gpus: gpusBy.get(model) ?? null };
    faults.push(...made.faults.map((fault) => ({ source: model, ...fault })));
    if (model.length > LONGEST_MODEL) faults.push({ source: "agent", field: "model", code: "too-long" });
    else models.push(soundModel(withinLimits(report, faults), faults));
  }
  faults.push(...strayTiers(named, endpoints, isAlone));
  faults.push(...(gpus?.faults ?? []));
  return {
    v: 1,
    region,
    agent,
    boot,
    seq,
    reportedAtMs,
    gpus: (gpus?.gpus ?? []).filter(({ uuid }) => uuid !== "" && uuid.length <= LONGEST_GPU),
    models,
    links: [],
    faults: listed(faults),
    readings: readingsOf(endpoints),
    mac: null,
  };
};

/** @param faults takes one for each model of which it is not known, or that shares one */
const gpusByModel = (
  placed: ReadonlyMap<string, readonly ModelPlace[]>,
  gpus: Gpus | null,
  claims: Claims,
  faults: ReportFault[],
): ReadonlyMap<string, ModelGpusReport> => {
  const byModel = new Map<string, ModelGpusReport>();
  if (gpus === null) return byModel;
  for (const [model, places] of placed) {
    const addresses = places.map(({ endpoint }) => endpoint.address);
    const own = modelGpus(addresses, gpus, claims, placed.size === 1);
    if (own.uuids === null) faults.push({ source: model, field: "gpus", code: "gpus-unattributed" });
    byModel.set(model, own);
  }
  for (const model of sharers(byModel)) faults.push({ source: model, field: "gpus", code: "gpus-shared" });
  return byModel;
};

const byModel = (endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly ModelPlace[]> => {
  const places = new Map<string, ModelPlace[]>();
  for (const endpoint of endpoints) {
    for (const model of endpoint.models.filter((known) => known.model !== "")) {
      places.set(model.model, [...(places.get(model.model) ?? []), { endpoint, model }]);
    }
  }
  return new Map([...places].sort(([a], [b]) => (a < b ? -1 : 1)));
};

const LONGEST_NAMES = 1_024;
/** Engines of one version find everything under the same names: more kinds than this is nothing that anybody reads. */
const MOST_READINGS = 16;

const readingsOf = (endpoints: readonly Endpoint[]): ReadingReport[] => {
  const alike = new Map<string, ReadingReport>();
  for (const { engine, address, sources } of endpoints) {
    if (engine === null || sources.length === 0) continue;
    const byField = Map.groupBy(sources, ({ field }) => field);
    const fields = Object.fromEntries(
      [...byField].map(([field, list]) => [
        field,
        list
          .map(({ source }) => source)
          .join(", ")
          .slice(0, LONGEST_NAMES),
      ]),
    );
    const key = JSON.stringify([engine, fields]);
    const known = alike.get(key) ?? { engine, addresses: [], fields };
    alike.set(key, { ...known, addresses: [...known.addresses, address.slice(0, LONGEST_SOURCE)] });
  }
  return [...alike.values()].slice(0, MOST_READINGS);
};

/** Where the operator says the capacity, the engine need not. */
const faultsOf = (endpoint: Endpoint, settings: ReadonlyMap<string, ModelSettings>): readonly ReportFault[] => {
  const isCapacitySaid =
    endpoint.models.length > 0 &&
    endpoint.models.every(({ model }) => (settings.get(model)?.kvCapacityTokens ?? null) !== null);
  return endpoint.faults
    .filter(({ field }) => !(isCapacitySaid && field === "kvCapacityTokens"))
    .map((fault) => ({ source: endpoint.address, ...fault }));
};

const withinLimits = (report: ModelReport, faults: ReportFault[]): ModelReport => {
  const fits =
    (field: string, longest: number) =>
    (name: string): boolean => {
      const isFitting = name !== "" && name.length <= longest;
      if (!isFitting) faults.push({ source: report.model, field, code: "too-long" });
      return isFitting;
    };
  const fitsReplica = fits("replicas", LONGEST_REPLICA);
  return {
    ...report,
    aliases: report.aliases.filter(fits("aliases", LONGEST_MODEL)),
    adapters: report.adapters.filter(fits("adapters", LONGEST_MODEL)),
    replicas: report.replicas.filter(({ id }) => fitsReplica(id)),
  };
};

/** Each once, short enough for the schema, and not more than somebody reads. */
const listed = (faults: readonly ReportFault[]): ReportFault[] => {
  const distinct = new Map<string, ReportFault>();
  for (const { source, field, code } of faults) {
    const fault = {
      source: source.slice(0, LONGEST_SOURCE),
      field: field.slice(0, LONGEST_FIELD),
      code: code.slice(0, LONGEST_CODE),
    };
    distinct.set(JSON.stringify(fault), fault);
  }
  const all = [...distinct.values()];
  if (all.length <= MOST_FAULTS) return all;
  return [...all.slice(0, MOST_FAULTS - 1), { source: "agent", field: "faults", code: "more-than-listed" }];
};
