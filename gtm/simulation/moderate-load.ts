/** The setting of the comparison: three regions, how they are built, who comes, for how long. */
import type { RegionSite } from "#gtm/domain/region.ts";
import { RegionId } from "#shared/ids.ts";
import type { Eyes } from "./region-reporter.ts";
import { DEFAULT_ENGINE, type EngineOptions } from "./serving/engine-options.ts";
import type { WorkloadOptions } from "./workload.ts";

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
