/** What the domain reads of a region's report (RegionReport v1 fits it), and how old one is. Unknown is null, never 0. */
import type { AgentId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";
import type { PlacementState } from "./placement.ts";

export type ReplicaHeard = {
  readonly id: ReplicaId;
  /** Epoch ms by the engine's clock. */
  readonly startedAtMs: number | null;
  readonly backlogMs: number | null;
  readonly prefillLinMs: number | null;
  readonly prefillAttnMs: number | null;
  readonly kvCapacityTokens: number | null;
  readonly kvPinnedTokens: number | null;
};

export type ModelHeard = {
  readonly model: ModelId;
  readonly aliases: readonly string[];
  readonly adapters: readonly string[];
  readonly state: PlacementState;
  readonly contextLimitTokens: number | null;
  readonly replicas: readonly ReplicaHeard[];
  readonly kvCapacityTokens: number | null;
  readonly kvCacheUsedFraction: number | null;
  readonly requestsRunning: number | null;
  readonly requestsWaiting: number | null;
  readonly prefillTokensPerSecond: number | null;
  readonly prefillConfidence: number | null;
  readonly itlMs: number | null;
  readonly prefixHitFraction: number | null;
  readonly newTokensPerSecond: number | null;
  readonly ttftP50Ms: number | null;
  readonly coldStartMs: number | null;
  readonly weightBytes: number | null;
};

export type GpuHeard = {
  readonly uuid: string;
  readonly memoryTotalBytes: number | null;
  readonly memoryFreeBytes: number | null;
};

export type ReportHeard = {
  readonly region: RegionId;
  readonly agent: AgentId;
  /** Epoch ms by the agent's clock; meaningful only against other times of the same report. */
  readonly reportedAtMs: number;
  readonly gpus: readonly GpuHeard[];
  readonly models: readonly ModelHeard[];
};

/** The newest report of one agent. */
export type HeardReport = {
  readonly report: ReportHeard;
  /** On the instance's monotonic clock. */
  readonly heardAtMs: number;
  /** How old it was then, by the store's clock; 0 or more. */
  readonly ageWhenHeardMs: number;
};

/** A span in which ages stand still, because the silence is ours; `toMs` null: it lasts. On the monotonic clock. */
export type Freeze = { readonly fromMs: number; readonly toMs: number | null };

/** When the report was made, on our clock. Backlogs drain from here on, frozen or not: engines do not wait for us. */
export const madeAtMs = (heard: HeardReport): number => heard.heardAtMs - Math.max(0, heard.ageWhenHeardMs);

/**
 * Age of a report without the spans in which ages stood still.
 *
 * @param freezes not overlapping
 * @returns ms, 0 or more
 */
export const reportAgeMs = (heard: HeardReport, nowMs: number, freezes: readonly Freeze[]): number => {
  let sinceHeardMs = Math.max(0, nowMs - heard.heardAtMs);
  for (const { fromMs, toMs } of freezes) {
    const stoodStillMs = Math.min(nowMs, toMs ?? nowMs) - Math.max(fromMs, heard.heardAtMs);
    sinceHeardMs -= Math.max(0, stoodStillMs);
  }
  return Math.max(0, heard.ageWhenHeardMs) + Math.max(0, sinceHeardMs);
};
