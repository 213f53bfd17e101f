/** One region, put together from its configuration, its agents' reports, its probe and what people ordered. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import { healthOf, type ProbeFact } from "./health.ts";
import { type Freeze, type HeardReport, type ModelHeard, reportAgeMs } from "./heard-report.ts";
import { bounded, greatestKnown, sumOfKnown } from "./known.ts";
import type { Model } from "./model.ts";
import type { Placement } from "./placement.ts";
import type { AdminState, Region, RegionSite } from "./region.ts";
import type { PlacementPart } from "./replica-assembly.ts";

export type AssemblyPolicy = {
  readonly staleAfterMs: number;
  readonly expiredAfterMs: number;
  readonly holderPatienceMs: number;
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
  const live = reports.filter((heard) => reportAgeMs(heard, nowMs, freezes) <= policy.expiredAfterMs);
  return live.length > 0 ? live : reports;
};

/** What each agent says of each model, by the model's id; a model goes by its configured id where one of its names is configured. */
export const partsByModel = (
  reports: readonly HeardReport[],
  configured: readonly Model[],
): ReadonlyMap<ModelId, readonly PlacementPart[]> => {
  const parts = new Map<ModelId, PlacementPart[]>();
  for (const heard of reports) {
    for (const model of heard.report.models) {
      for (const id of idsOf(model, configured)) {
        const sofar = parts.get(id) ?? [];
        // One word an agent: a model that a report names twice is heard once.
        if (sofar.at(-1)?.heard !== heard) parts.set(id, [...sofar, { heard, model }]);
      }
    }
  }
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
  const byUuid = new Map(reports.flatMap(({ report }) => report.gpus).map((gpu) => [gpu.uuid, gpu]));
  return [...byUuid.values()].sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
};

/** By region, then agent; of one agent the report made last. */
export const reportsByRegion = (reports: readonly HeardReport[]): ReadonlyMap<RegionId, readonly HeardReport[]> => {
  const newest = new Map<string, HeardReport>();
  for (const heard of reports) {
    const key = `${heard.report.region}/${heard.report.agent}`;
    const standing = newest.get(key);
    if (standing === undefined || isNewer(heard, standing)) newest.set(key, heard);
  }
  const byRegion = new Map<RegionId, HeardReport[]>();
  for (const [, heard] of [...newest].sort(([a], [b]) => (a < b ? -1 : 1))) {
    byRegion.set(heard.report.region, [...(byRegion.get(heard.report.region) ?? []), heard]);
  }
  return byRegion;
};

const isNewer = (one: HeardReport, other: HeardReport): boolean =>
  one.heardAtMs - one.ageWhenHeardMs > other.heardAtMs - other.ageWhenHeardMs;
