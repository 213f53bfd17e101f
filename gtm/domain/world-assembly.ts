/** Makes the world that decisions read out of everything that was heard; pure, so that a simulation makes its own the same way. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import { candidacyVersionOf, openedAtMsOf } from "./candidacy.ts";
import type { Drains } from "./drain-schedule.ts";
import type { ProbeFact } from "./health.ts";
import type { Freeze, HeardReport } from "./heard-report.ts";
import type { HeldObserved, Learnt } from "./learnt.ts";
import type { Model } from "./model.ts";
import { modelsIn } from "./model-assembly.ts";
import { withNewcomers } from "./newcomers.ts";
import type { Placement } from "./placement.ts";
import { placementOf } from "./placement-assembly.ts";
import type { PlacementPart } from "./placement-says.ts";
import { borrowedSpeed, type MeasuredSpeed, reportedSpeed } from "./prefill-speeds.ts";
import type { AdminState, RegionSite } from "./region.ts";
import {
  type AssemblyPolicy,
  assembleRegion,
  partsByModel,
  type RegionParts,
  reportsByRegion,
  speakingReports,
} from "./region-assembly.ts";
import { type SendTo, sendListOf, sendsByPlacement } from "./sends.ts";
import type { OverrideRule, World } from "./world.ts";

export type WorldInputs = {
  /** For the version, the averages, and whether candidacy changed; null: this is the first. */
  readonly previous: World | null;
  /** On the instance's monotonic clock, as every other time here. */
  readonly nowMs: number;
  /** As the world has it. */
  readonly epochAheadMs: number;
  readonly sites: readonly RegionSite[];
  readonly models: readonly Model[];
  readonly policy: AssemblyPolicy;
  /** The newest of every agent, expired ones included, in any order; of regions that are not sites nothing is taken. */
  readonly reports: readonly HeardReport[];
  /** Regions with an agent that the store remembers and whose report was never heard. */
  readonly regionsWithAbsentAgents: readonly RegionId[];
  /** A region without an entry has no result yet. */
  readonly probes: ReadonlyMap<RegionId, ProbeFact>;
  readonly freezes: readonly Freeze[];
  /** Of a region whose reports could not be read for a while: these instead. */
  readonly regionFreezes: ReadonlyMap<RegionId, readonly Freeze[]>;
  readonly isStoreUp: boolean;
  /** A region without an entry is active. */
  readonly admin: ReadonlyMap<RegionId, AdminState>;
  readonly overrides: readonly OverrideRule[];
  readonly drains: Drains;
  /** Of all GTMs, at least those since the oldest report that still counts; in any order. */
  readonly sends: readonly SendTo[];
  /** Of all GTMs; entries of one placement are summed. */
  readonly live: readonly LiveTokens[];
  /** What teaches c_r; at most one a placement. */
  readonly heldObserved: readonly HeldObserved[];
  readonly learnt: Learnt;
};

/** Σ contextTokens × pNext of the conversations last served in a placement within the pin's time. */
export type LiveTokens = { readonly region: RegionId; readonly model: ModelId; readonly tokens: number };

export const assembleWorld = (inputs: WorldInputs): World => {
  const { previous, nowMs, policy } = inputs;
  const reports = reportsByRegion(inputs.reports);
  const parts = inputs.sites.map(
    (site): RegionParts => ({
      site,
      reports: reports.get(site.id) ?? [],
      isAgentAbsent: inputs.regionsWithAbsentAgents.includes(site.id),
      probe: inputs.probes.get(site.id) ?? null,
      admin: inputs.admin.get(site.id) ?? "active",
      freezes: inputs.regionFreezes.get(site.id) ?? inputs.freezes,
      nowMs,
      policy,
    }),
  );
  const spoken = parts.map((one) => ({ parts: one, speaking: speakingReports(one) }));
  const placementsOf = placementMaker(inputs, () => spoken.flatMap(({ speaking }) => speaking));
  const assembled = spoken.map(({ parts: one, speaking }) =>
    assembleRegion(one, speaking, placementsOf(one.site, speaking)),
  );
  const regions = withNewcomers(assembled, nowMs, policy.pinMs);
  return {
    version: (previous?.version ?? 0) + 1,
    candidacyVersion: candidacyVersionOf(previous, regions, inputs.overrides, policy.expiredAfterMs),
    openedAtMs: openedAtMsOf(previous, regions, nowMs),
    takenAtMs: nowMs,
    epochAheadMs: inputs.epochAheadMs,
    isStoreUp: inputs.isStoreUp,
    areAgesFrozen: inputs.freezes.some(({ toMs }) => toMs === null),
    regions,
    models: modelsIn(regions, inputs.models),
    overrides: inputs.overrides,
    drains: inputs.drains,
    sends: sendListOf(inputs.sends, nowMs),
    learnt: inputs.learnt,
  };
};

const placementMaker = (inputs: WorldInputs, speaking: () => readonly HeardReport[]) => {
  const { previous, nowMs, models, policy } = inputs;
  // Most reports say how fast their replicas are, and nobody needs another region's word.
  let known: readonly MeasuredSpeed[] | null = null;
  const measured = (): readonly MeasuredSpeed[] => {
    known ??= measuredIn(speaking(), models);
    return known;
  };
  const sendsTo = sendsByPlacement(inputs.sends, nowMs);
  return (site: RegionSite, reports: readonly HeardReport[]): ReadonlyMap<ModelId, Placement> => {
    const before = previous?.regions.find(({ id }) => id === site.id)?.placements;
    const placements = new Map<ModelId, Placement>();
    const isHere = (one: { readonly region: RegionId; readonly model: ModelId }, model: ModelId): boolean =>
      one.region === site.id && one.model === model;
    for (const [model, parts] of byName(partsByModel(reports, models))) {
      const earlier = before?.get(model);
      const placement = placementOf(parts, {
        model,
        site,
        configured: models.find(({ id }) => id === model) ?? null,
        borrowed: () => borrowedSpeed(model, site.id, measured()),
        sends: sendsTo(site.id, model),
        liveTokens: sumInOrder(inputs.live, (one) => isHere(one, model)),
        heldObserved: inputs.heldObserved.find((one) => isHere(one, model))?.tally ?? null,
        previous: previous === null || earlier === undefined ? null : { ...earlier, atMs: previous.takenAtMs },
        nowMs,
        holderPatienceMs: policy.holderPatienceMs,
      });
      placements.set(model, placement);
    }
    return placements;
  };
};

type Parts = ReturnType<typeof partsByModel>;

const byName = (parts: Parts): Parts | readonly (readonly [ModelId, readonly PlacementPart[]])[] =>
  parts.size < 2 ? parts : [...parts].sort(([a], [b]) => (a < b ? -1 : 1));

/** Sums of fractions depend on their order; the order in which GTMs are heard does not matter. */
const sumInOrder = (live: readonly LiveTokens[], isWanted: (one: LiveTokens) => boolean): number => {
  const values: number[] = [];
  for (const one of live) if (isWanted(one)) values.push(one.tokens);
  if (values.length > 1) values.sort((a, b) => a - b);
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};

const measuredIn = (speaking: readonly HeardReport[], models: readonly Model[]): readonly MeasuredSpeed[] => {
  const measured: MeasuredSpeed[] = [];
  for (const [region, reports] of reportsByRegion(speaking)) {
    for (const [model, parts] of partsByModel(reports, models)) {
      for (const part of parts) {
        for (const replica of part.model.replicas) {
          const speed = reportedSpeed(replica, part.model);
          if (speed !== null) measured.push({ region, model, speed });
        }
      }
    }
  }
  return measured;
};
