/** What is played: regions and what they are built of, who comes, how a client is led, and what happens meanwhile. */
import type { RegionSite } from "#gtm/domain/region.ts";
import type { City } from "./cities.ts";
import type { EngineOptions } from "./serving/engine-options.ts";
import type { Traffic } from "./traffic.ts";

export type FleetRegion = {
  readonly site: RegionSite;
  readonly replicas: number;
  readonly engine: EngineOptions;
  /** `cold`: the model is on disk, and the region not ready; a request that comes all the same waits for its load. */
  readonly placement: "loaded" | "cold";
};

/** What befalls a region, by its index. */
export type Happening = { readonly atMs: number; readonly region: number } & (
  | { readonly kind: "fails" }
  | { readonly kind: "returns" }
  | { readonly kind: "drains" }
  | { readonly kind: "undrains" }
  /** Its agents' reports stop coming, and come again. */
  | { readonly kind: "falls-silent" }
  | { readonly kind: "speaks-again" }
  /** Somebody has its cold model loaded. */
  | { readonly kind: "loads" }
);

/**
 * Who looks: an `agent` reads an engine's metrics, which do not say how long the queue is in tokens, nor what is left of
 * the running prefill; a `gateway` forwards every request itself and knows both.
 */
export type Eyes = "agent" | "gateway";

export type Reporting = {
  readonly everyMs: number;
  /** How old a report is when the GTMs hear it. */
  readonly delayMs: number;
  /** Metrics alone, or gateways that know exact backlogs and holdings. */
  readonly eyes: Eyes;
};

export type Leading =
  /** A front door, as near as the nearest region but no part of it, answers 307; its own round trips are paid. Each client keeps to one GTM. */
  | { readonly kind: "redirect"; readonly gtms: number; readonly sharesSends: boolean }
  /** Names alone, through resolvers that keep each answer for its TTL. */
  | {
      readonly kind: "dns";
      readonly resolversPerCity: number;
      /** Whether they ask again as soon as an answer expires, as where many more clients ask than are played; else when a client asks. */
      readonly areBusy: boolean;
    };

export type Scenario = {
  readonly name: string;
  /** One sentence for the report. */
  readonly says: string;
  readonly fleet: readonly FleetRegion[];
  readonly cities: readonly City[];
  /** Round trip as it really is between a city and a region's index, ms, last mile excluded. */
  readonly rttMs: (city: City, region: number) => number;
  readonly traffic: (seed: number) => Traffic;
  readonly reporting: Reporting;
  readonly leading: Leading;
  readonly routing: "affinity" | "round-robin";
  readonly happenings: readonly Happening[];
  /** Played but not counted, while caches fill. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
  /** Promise on TTFT for a prompt of that length, ms. */
  readonly sloMs: (promptTokens: number) => number;
};
