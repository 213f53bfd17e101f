/** The setting of the comparison: three regions, how they are built, who comes, for how long. */
import type { RegionSite } from "#gtm/domain/region.ts";
import { RegionId } from "#shared/ids.ts";
import { CITIES } from "./cities.ts";
import { routeRttMs } from "./network.ts";
import { sloMsOf } from "./promise.ts";
import type { Eyes, Scenario } from "./scenario.ts";
import { DEFAULT_ENGINE, type EngineOptions } from "./serving/engine-options.ts";
import type { WorkloadOptions } from "./workload.ts";
import { workloadTraffic } from "./workload-traffic.ts";

const site = (id: string, latitude: number, longitude: number): RegionSite => ({
  id: RegionId.parse(id),
  location: { latitude, longitude },
  jurisdiction: null,
  endpoint: { url: `https://${id}.example.org`, ipv4: [], ipv6: [] },
  alpn: [],
  hasAffinity: true,
  hasGateway: false,
});

/** Frankfurt, Virginia, Singapore. */
const THREE_REGIONS: readonly RegionSite[] = [
  site("eu-central", 50.11, 8.68),
  site("us-east", 38.95, -77.45),
  site("ap-southeast", 1.35, 103.82),
];

export type CompareOptions = {
  readonly sites: readonly RegionSite[];
  readonly workload: WorkloadOptions;
  readonly replicasPerRegion: number;
  readonly engine: EngineOptions;
  /** What this GTM is told by: agents that read metrics, or gateways that forward each request. */
  readonly eyes: Eyes;
  /** Played but not counted, while caches fill. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
};

/** Three regions of four replicas at about 0.6 of what they could do without any cache; README.md says why. */
export const MODERATE_LOAD: CompareOptions = {
  sites: THREE_REGIONS,
  workload: { chats: 600, agents: 100, seed: 1 },
  replicasPerRegion: 4,
  engine: DEFAULT_ENGINE,
  eyes: "agent",
  warmUpMs: 200_000,
  measuredMs: 240_000,
};

/** Clients are led by one GTM's redirects. */
export const moderateLoad = (options: CompareOptions): Scenario => ({
  name: "moderate-load",
  says: "Chats and coding agents at about 0.65 of what the replicas could prefill without any cache.",
  fleet: options.sites.map((one) => ({
    site: one,
    replicas: options.replicasPerRegion,
    engine: options.engine,
    placement: "loaded",
  })),
  cities: CITIES,
  rttMs: (city, region) => {
    const one = options.sites[region];
    if (one?.location == null) throw new RangeError(`there is no region ${region} on the map`);
    return routeRttMs(city, one.id, one.location);
  },
  traffic: () => workloadTraffic(options.workload),
  reporting: { everyMs: 1_000, delayMs: 0, eyes: options.eyes },
  leading: { kind: "redirect", gtms: 1, sharesSends: false },
  routing: "affinity",
  happenings: [],
  warmUpMs: options.warmUpMs,
  measuredMs: options.measuredMs,
  sloMs: sloMsOf,
});
