/** Every agent that this GTM heard of, as the admin API is told of them. */
import type { RegionId } from "#shared/ids.ts";
import type { RegionReport } from "#shared/report.ts";

export type AgentSeen = {
  readonly region: RegionId;
  /** "": of the region as a whole, such as that it lists more agents than are read. */
  readonly agent: string;
  /** The newest that was believed; null: none was. */
  readonly report: RegionReport | null;
  /** By the store's clock; stands still while the silence is ours. null: no report. */
  readonly reportAgeMs: number | null;
  /** The store lists it among the region's agents. */
  readonly isListed: boolean;
  /** What its reports tell in a row; null: none was heard since this process started. */
  readonly pulse: AgentPulse | null;
  /** null: nothing of it was refused. */
  readonly refusal: AgentRefusal | null;
  /** The region has a report key here: what is believed was verified. */
  readonly isKeyKnown: boolean;
};

export type AgentPulse = {
  /** Unix epoch ms. */
  readonly firstHeardAtMs: number;
  readonly intervalMs: number | null;
  readonly heardReports: number;
  readonly missedReports: number;
  readonly restarts: number;
  /** Unix epoch ms, when two processes last took turns under this name; null: never seen. */
  readonly doubledAtMs: number | null;
  /** Of its clock before ours. */
  readonly clockAheadMs: number;
};

export type AgentRefusal = {
  readonly count: number;
  readonly reason: string;
  readonly detail: string;
  /** Unix epoch ms, of the last. */
  readonly atMs: number;
  /** No report was believed since. */
  readonly isStanding: boolean;
};

/** In the order of regions. */
export type AgentsPort = () => readonly AgentSeen[];
