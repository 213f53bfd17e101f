/** Reports and world inputs for tests; every argument that a test does not name is unremarkable. */
import assert from "node:assert/strict";
import { NO_DRAINS } from "#gtm/domain/drain-schedule.ts";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import { NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { Placement } from "#gtm/domain/placement.ts";
import type { Region, RegionSite } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import { assembleWorld, type WorldInputs } from "#gtm/domain/world-assembly.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { AgentId } from "#shared/ids.ts";
import type { GpuReport, ModelReport, RegionReport, ReplicaReport } from "#shared/report.ts";
import { MODEL, NOW_MS, PLACES, type Place, regionId, replicaId } from "./builders.ts";

/** Epoch ms of everything that tests call now: 2026-11-30T04:00:00Z. */
export const EPOCH_MS = 1_796_011_200_000;

export const aReplicaReport = (region: string, at: number, wish: Partial<ReplicaReport> = {}): ReplicaReport => ({
  id: replicaId(region, at),
  startedAtMs: EPOCH_MS - 3_600_000,
  backlogMs: 0,
  prefillLinMs: null,
  prefillAttnMs: null,
  kvCapacityTokens: 400_000,
  kvPinnedTokens: 0,
  ...wish,
});

export const aModelReport = (region: string, wish: Partial<ModelReport> = {}): ModelReport => ({
  model: MODEL,
  aliases: [],
  adapters: [],
  state: "loaded",
  contextLimitTokens: 131_072,
  replicas: [aReplicaReport(region, 0)],
  kvCapacityTokens: 400_000,
  kvCacheUsedFraction: 0.1,
  requestsRunning: 1,
  requestsWaiting: 0,
  uncachedTokensWaiting: null,
  prefillTokensPerSecond: 5_000,
  prefillConfidence: 1,
  itlMs: 20,
  prefixHitFraction: 0.5,
  newTokensPerSecond: 0,
  ttftP50Ms: 200,
  ttftP95Ms: 900,
  coldStartMs: 80_000,
  weightBytes: 141e9,
  ...wish,
});

export const aGpuReport = (uuid: string, wish: Partial<GpuReport> = {}): GpuReport => ({
  uuid,
  memoryTotalBytes: 80e9,
  memoryUsedBytes: 70e9,
  memoryFreeBytes: 10e9,
  ...wish,
});

export const aReport = (
  region: string,
  wish: Partial<RegionReport> & { readonly agentName?: string } = {},
): RegionReport => {
  const { agentName = "a1", ...rest } = wish;
  return {
    v: 1,
    region: regionId(region),
    agent: AgentId.parse(agentName),
    boot: "b1",
    seq: 1,
    reportedAtMs: EPOCH_MS,
    gpus: [aGpuReport(`${region}-gpu0`)],
    models: [aModelReport(region)],
    links: [],
    faults: [],
    mac: null,
    ...rest,
  };
};

/** Made and heard just now, unless the test says otherwise. */
export const heard = (report: RegionReport, wish: Partial<HeardReport> = {}): HeardReport => ({
  report,
  heardAtMs: NOW_MS,
  ageWhenHeardMs: 0,
  ...wish,
});

export const aSite = (id: string, wish: Partial<RegionSite> = {}): RegionSite => ({
  id: regionId(id),
  location: PLACES[id as Place] ?? null,
  jurisdiction: "eu",
  endpoint: { url: `https://${id}.r.llm.example.org`, ipv4: ["192.0.2.10"], ipv6: [] },
  alpn: [],
  hasAffinity: true,
  hasGateway: false,
  ...wish,
});

export const aModel = (wish: Partial<Model> = {}): Model => ({
  id: MODEL,
  aliases: ["llama"],
  weightBytes: null,
  coldStartMs: null,
  ...wish,
});

/** One site for each region that reports, in the order of first appearance. */
export const worldInputs = (reports: readonly HeardReport[], wish: Partial<WorldInputs> = {}): WorldInputs => ({
  previous: null,
  nowMs: NOW_MS,
  epochAheadMs: 0,
  sites: [...new Set(reports.map(({ report }) => report.region))].map((id) => aSite(id)),
  models: [aModel()],
  policy: DEFAULT_POLICY,
  reports,
  regionsWithAbsentAgents: [],
  probes: new Map(),
  freezes: [],
  regionFreezes: new Map(),
  isStoreUp: true,
  admin: new Map(),
  overrides: [],
  drains: NO_DRAINS,
  sends: [],
  live: [],
  heldObserved: [],
  learnt: NOTHING_LEARNT,
  ...wish,
});

export const worldOf = (reports: readonly HeardReport[], wish: Partial<WorldInputs> = {}) =>
  assembleWorld(worldInputs(reports, wish));

export const regionIn = (world: World, id: string): Region => {
  const region = world.regions.find((one) => one.id === id);
  assert.ok(region);
  return region;
};

export const placementIn = (world: World, id = "frankfurt", model = MODEL): Placement => {
  const placement = regionIn(world, id).placements.get(model);
  assert.ok(placement);
  return placement;
};

/** What a world source is given where nothing was learnt. */
export const UNTAUGHT = { heldObserved: () => [], learnt: () => NOTHING_LEARNT };
