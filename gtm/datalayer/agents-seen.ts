/** Every agent that was heard of: those that report, those that used to, and those that are not believed. */
import { type Freeze, reportAgeMs } from "#gtm/domain/heard-report.ts";
import type { RegionId } from "#shared/ids.ts";
import type { RegionReport } from "#shared/report.ts";
import type { Agent } from "./agent-index.ts";
import type { Pulse } from "./agent-pulse.ts";
import type { KeptReport, KeptReports, ReportKeys } from "./kept-reports.ts";
import type { Refusal } from "./report-refusals.ts";

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
  /** null: no report of it was heard since this process started. */
  readonly pulse: Pulse | null;
  /** null: nothing of it was refused. */
  readonly refusal: Refusal | null;
  /** Its reports have to be signed, and a report here is verified. */
  readonly isKeyKnown: boolean;
};

export type AgentsSeenInputs = {
  readonly kept: Pick<KeptReports, "heard" | "pulseOf" | "refusals">;
  readonly listed: readonly Agent[];
  readonly regions: readonly RegionId[];
  readonly reportKeys: ReportKeys;
  /** On the instance's monotonic clock. */
  readonly nowMs: number;
  readonly freezesOf: (region: RegionId) => readonly Freeze[];
};

/** In the order of regions, and of names within one. */
export const agentsSeen = (inputs: AgentsSeenInputs): readonly AgentSeen[] => {
  const { kept, listed, regions } = inputs;
  const reports = new Map(kept.heard().map((one) => [`${one.report.region}/${one.report.agent}`, one]));
  const members = new Set(listed.map(({ member }) => member));
  const refusals = kept.refusals();
  const all = new Set([...members, ...reports.keys(), ...refusals.keys()]);
  const rank = new Map(regions.map((region, at) => [region as string, at]));
  return [...all]
    .map((member) => ({ member, region: member.slice(0, member.indexOf("/")) as RegionId }))
    .filter(({ region }) => rank.has(region))
    .sort((a, b) => (rank.get(a.region) ?? 0) - (rank.get(b.region) ?? 0) || (a.member < b.member ? -1 : 1))
    .map(({ member, region }) => ({
      region,
      agent: member.slice(region.length + 1),
      ...reportOf(reports.get(member), inputs),
      isListed: members.has(member),
      pulse: kept.pulseOf(member),
      refusal: refusals.get(member) ?? null,
      isKeyKnown: (inputs.reportKeys.get(region) ?? []).length > 0,
    }));
};

const reportOf = (
  heard: KeptReport | undefined,
  { nowMs, freezesOf }: AgentsSeenInputs,
): Pick<AgentSeen, "report" | "reportAgeMs"> =>
  heard === undefined
    ? { report: null, reportAgeMs: null }
    : { report: heard.report, reportAgeMs: Math.round(reportAgeMs(heard, nowMs, freezesOf(heard.report.region))) };
