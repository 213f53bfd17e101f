/** A hostname, the models behind it, and the regions that may serve them. */
import type { ModelId, PoolName, RegionId } from "#shared/ids.ts";

/** What is answered when no region is a candidate. */
export type LastResort =
  | { readonly kind: "regions"; readonly order: readonly RegionId[] }
  | { readonly kind: "addresses"; readonly ipv4: readonly string[]; readonly ipv6: readonly string[] }
  | { readonly kind: "nodata" }
  | { readonly kind: "servfail" };

/** How a request reaches its region: the client is sent there, or the front door goes; `auto`: whichever the client can bear. */
export type PoolMode = "redirect" | "forward" | "auto";

export type Pool = {
  readonly name: PoolName;
  /** The first prices the pool's name; at least one. */
  readonly models: readonly ModelId[];
  readonly regions: readonly RegionId[];
  /** Jurisdictions the data may enter, also for failover; null: any. */
  readonly jurisdictions: readonly string[] | null;
  readonly lastResort: LastResort;
  /** Whether its DNS name answers with regions or with the GTMs' own HTTP addresses. */
  readonly answer: "regions" | "front";
  /** Path prefixes the front door redirects. */
  readonly paths: readonly string[];
  readonly mode: PoolMode;
  /** Whether its regions share what the Responses API stores. */
  readonly sharesResponses: boolean;
  /** `shadow`: decisions are made and recorded, and answers are as without affinity. */
  readonly steering: "enforce" | "shadow";
};
