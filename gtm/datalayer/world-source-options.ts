/** What the world is made of, and who makes it. */
import type { ProbeFact } from "#gtm/domain/health.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { AdminState, RegionSite } from "#gtm/domain/region.ts";
import type { AssemblyPolicy } from "#gtm/domain/region-assembly.ts";
import type { OverrideRule, World } from "#gtm/domain/world.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Clock } from "#shared/clock.ts";
import type { InstanceId, RegionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { Agreement } from "./agreement.ts";
import type { CellRegions } from "./cell-regions.ts";
import type { Degradations } from "./degradations.ts";
import type { Learning } from "./learning.ts";
import type { ReportKeys } from "./reports.ts";
import type { StoreFailures } from "./store-failures.ts";

export type WorldSourceOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
  readonly instance: InstanceId;
  /** These three may change; `settle` says when. */
  readonly sites: readonly RegionSite[];
  readonly models: readonly Model[];
  readonly policy: AssemblyPolicy;
  readonly reportKeys: ReportKeys;
  readonly probes: () => ReadonlyMap<RegionId, ProbeFact>;
  readonly admin: () => ReadonlyMap<RegionId, AdminState>;
  readonly overrides: () => readonly OverrideRule[];
  /** What drains under way take next. */
  readonly drains: () => World["drains"];
  /** What this instance's own conversations keep alive in the regions' caches. */
  readonly live: () => readonly LiveTokens[];
  readonly learning: Pick<Learning, "heldObserved" | "learnt">;
  readonly cells: CellRegions;
  readonly agreement: Pick<Agreement, "look" | "said" | "hear" | "sawDouble">;
  /** The store has forgotten this instance, and so perhaps more: it was wiped, or came back empty. */
  readonly onWiped: () => void;
};
