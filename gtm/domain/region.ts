/** One place that can serve: what is configured of it, what people ordered, what it said of itself. */
import type { ModelId, RegionId } from "#shared/ids.ts";
import type { Placement } from "./placement.ts";
import type { Location } from "./topology.ts";

/** What people ordered. */
export type AdminState = "active" | "drain-new" | "drain-all" | "down" | "forced-up";
/** What reports and probes say. */
export type Health = "healthy" | "degraded" | "unhealthy" | "silent";

export type Endpoint = {
  /** Origin that `Location` names, without a trailing slash. */
  readonly url: string;
  /** What DNS answers; either may be empty. */
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
};

/** What the configuration says of a region; never changes while the process lives. */
export type RegionSite = {
  readonly id: RegionId;
  readonly location: Location | null;
  /** Where its data lies, such as "eu"; null: unstated, and then refused by pools that name jurisdictions. */
  readonly jurisdiction: string | null;
  readonly endpoint: Endpoint;
  /** What its gateway speaks over TLS, by ALPN id, such as "h2"; empty: unsaid, and then no HTTPS record leads there. */
  readonly alpn: readonly string[];
  /** Whether the in-region router keeps conversations on a replica. */
  readonly hasAffinity: boolean;
  readonly hasGateway: boolean;
};

export type Region = RegionSite & {
  readonly admin: AdminState;
  readonly health: Health;
  /** Age of the report at `world.takenAtMs`, by the store's clock; frozen while the silence is ours. null: never reported. */
  readonly reportAgeMs: number | null;
  /** An agent that used to report is missing: counts and capacity are lower bounds. */
  readonly isPartial: boolean;
  /** Largest free memory of the region's GPUs together; null: unknown. */
  readonly gpuMemoryFreeBytes: number | null;
  readonly gpuMemoryBytes: number | null;
  readonly placements: ReadonlyMap<ModelId, Placement>;
};
