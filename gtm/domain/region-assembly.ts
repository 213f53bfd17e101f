/** One region, put together from its configuration, its agents' reports, its probe and what people ordered. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import { healthOf, type ProbeFact } from "./health.ts";
import { type Freeze, type HeardReport, type ModelHeard, reportAgeMs } from "./heard-report.ts";
import { bounded, greatestKnown, sumOfKnown } from "./known.ts";
import type { Model } from "./model.ts";
import type { Placement } from "./placement.ts";
import type { PlacementPart } from "./placement-says.ts";
import type { AdminState, Region, RegionSite } from "./region.ts";

export type AssemblyPolicy = {
  readonly staleAfterMs: number;
  readonly expiredAfterMs: number;
  readonly holderPatienceMs: number;
  readonly pinMs: number;
};

export type RegionParts = {
  readonly site: RegionSite;
  /** By agent; empty: the region never reported. */
  readonly reports: readonly HeardReport[];
  /** The store remembers an agent of which no report was ever heard. */
  readonly isAgentAbsent: boolean;
  readonly probe: ProbeFact | null;
  readonly admin: AdminState;
  readonly freezes: readonly Freeze[];
  readonly nowMs: number;
  readonly policy: AssemblyPolicy;
};

/** The reports that speak for the region: those not expired; where all are, all of them, for people to look at. */
export const speakingReports = ({ reports, nowMs, freezes, policy }: RegionParts): readonly HeardReport[] => {
  const isLive = (heard: HeardReport): boolean => reportAgeMs(heard, nowMs, freezes) <= policy.expiredAfterMs;
  if (reports.every(isLive)) return reports;
  const live = reports.filter(isLive);
  return live.length > 0 ? live : reports;
};

/** What each agent says of each model, by the model's id; a model goes by its configured id where one of its names is configured. */
export const partsByModel = (
  reports: readonly HeardReport[],
  configured: readonly Model[],
): ReadonlyMap<ModelId, readonly PlacementPart[]> => {
  const [only] = reports;
  if (only !== undefined && reports.length === 1) return partsIn(only, configured);
  const parts = new Map<ModelId, PlacementPart[]>();
  for (const heard of reports) {
    for (const [id, part] of partsIn(heard, configured)) parts.set(id, [...(parts.get(id) ?? []), ...part]);
  }
  return parts;
};

type Parts = ReadonlyMap<ModelId, readonly PlacementPart[]>;
/** A report stands for a second or more, and many worlds are made of it. */
const known = new WeakMap<HeardReport, { readonly configured: readonly Model[]; readonly parts: Parts }>();

/** Of one report, one part a model. */
const partsIn = (heard: HeardReport, configured: readonly Model[]): Parts => {
  const before = known.get(heard);
  if (before?.configured === configured) return before.parts;
  const parts = new Map<ModelId, readonly PlacementPart[]>();
  for (const model of heard.report.models) {
    for (const id of idsOf(model, configured)) {
      // One word an agent: a model that a report names twice is heard once.
      if (!parts.has(id)) parts.set(id, [{ heard, model }]);
    }
  }
  known.set(heard, { configured, parts });
  return parts;
};

/** An adapter is a model of its own to clients, served by its base's replicas. */
const idsOf = (model: ModelHeard, configured: readonly Model[]): readonly ModelId[] => {
  const own = configured.find((one) => isNamed(one, [model.model, ...model.aliases]));
  const adapters = configured.filter((one) => one !== own && isNamed(one, model.adapters));
  return [own?.id ?? model.model, ...adapters.map(({ id }) => id)];
};

const isNamed = (model: Model, names: readonly string[]): boolean =>
  names.includes(model.id) || model.aliases.some((alias) => names.includes(alias));

/** @param speaking what `speakingReports` said */
export const assembleRegion = (
  parts: RegionParts,
  speaking: readonly HeardReport[],
  placements: ReadonlyMap<ModelId, Placement>,
): Region => {
  const { site, admin, probe, policy } = parts;
  // The oldest of them: what they say together is as old as that.
  const ageMs = greatestKnown(speaking.map((heard) => reportAgeMs(heard, parts.nowMs, parts.freezes)));
  const isPartial = speaking.length > 0 && (parts.isAgentAbsent || speaking.length < parts.reports.length);
  const kvCacheUsedFraction = greatestKnown([...placements.values()].map((placement) => placement.kvCacheUsedFraction));
  const gpus = gpusOf(speaking);
  return {
    ...site,
    admin,
    health: healthOf({ probe, reportAgeMs: ageMs, isPartial, kvCacheUsedFraction }, policy),
    reportAgeMs: ageMs,
    isPartial,
    gpuMemoryFreeBytes: bounded(sumOfKnown(gpus.map(({ memoryFreeBytes }) => bounded(memoryFreeBytes)))),
    gpuMemoryBytes: bounded(sumOfKnown(gpus.map(({ memoryTotalBytes }) => bounded(memoryTotalBytes)))),
    placements,
  };
};

/** Two agents may read the same exporter: a GPU counts once. */
const gpusOf = (reports: readonly HeardReport[]) => {
  if (reports.every(({ report }) => report.gpus.length === 0)) return [];
  const byUuid = new Map(reports.flatMap(({ report }) => report.gpus).map((gpu) => [gpu.uuid, gpu]));
  return [...byUuid.values()].sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
};

/** By region, then agent; of one agent the report made last. */
export const reportsByRegion = (reports: readonly HeardReport[]): ReadonlyMap<RegionId, readonly HeardReport[]> => {
  const byRegion = new Map<RegionId, HeardReport[]>();
  for (const heard of reports) {
    const standing = byRegion.get(heard.report.region);
    if (standing === undefined) byRegion.set(heard.report.region, [heard]);
    else hearAnother(standing, heard);
  }
  for (const [, heard] of byRegion) if (heard.length > 1) heard.sort(byAgent);
  return byRegion;
};

const hearAnother = (heard: HeardReport[], another: HeardReport): void => {
  const at = heard.findIndex(({ report }) => report.agent === another.report.agent);
  const standing = heard[at];
  if (standing === undefined) heard.push(another);
  else if (isNewer(another, standing)) heard[at] = another;
};

const byAgent = (a: HeardReport, b: HeardReport): number => (a.report.agent < b.report.agent ? -1 : 1);

const isNewer = (one: HeardReport, other: HeardReport): boolean =>
  one.heardAtMs - one.ageWhenHeardMs > other.heardAtMs - other.ageWhenHeardMs;
