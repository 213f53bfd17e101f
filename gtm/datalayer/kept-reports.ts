/** The newest believed report of every agent, in memory: which are taken, which refused, and when one is forgotten. */

import { z } from "zod";
import { type HeardReport, madeAtMs } from "#gtm/domain/heard-report.ts";
import type { Clock } from "#shared/clock.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";
import type { Stored } from "#shared/store.ts";
import type { Agent } from "./agent-index.ts";
import { createAgentPulses, type Pulse } from "./agent-pulse.ts";
import { checkReport } from "./report-check.ts";
import { createReportQuota } from "./report-quota.ts";
import { createReportRefusals, type Refusal } from "./report-refusals.ts";

/** A region without a key may report unsigned; during a change of keys it has two. */
export type ReportKeys = { readonly get: (region: RegionId) => readonly Uint8Array[] | undefined };

export type KeptReport = HeardReport & { readonly report: RegionReport };
/** A report out of a world file. */
export type SavedReport = {
  readonly report: unknown;
  /** What its age was when it was saved. */
  readonly ageMs: number;
  /** How long ago that was, as far as the clocks can tell. */
  readonly savedForMs: number;
};

export type KeptReports = {
  /** Expired ones included, as long as the region has no newer agent. */
  readonly heard: () => readonly KeptReport[];
  readonly has: (member: string) => boolean;
  readonly agents: () => readonly Agent[];
  /** @param member `region/agent` @returns null: the configuration has no such region, or it is no name; that is counted */
  readonly agentOf: (member: string) => Agent | null;
  /** False for one whose reports are too long to be read at each announcement. */
  readonly isWorthReading: (agent: Agent) => boolean;
  /** The region lists more agents than are read. */
  readonly crowded: (region: RegionId, most: number) => void;
  /** @returns whether it is news */
  readonly hear: (agent: Agent, stored: Stored) => boolean;
  /** The store has none of this agent, although it has others'. What an earlier process saved of it is as old as it is. */
  readonly missing: (agent: Agent) => void;
  /** @returns whether it was believed */
  readonly restore: (saved: SavedReport) => boolean;
  /** A region's last report is kept however old; beside newer ones an expired agent that the store forgot is not missed. */
  readonly forget: (listed: ReadonlySet<string>) => void;
  /** Other regions are configured now: of those that are not, nothing is kept. */
  readonly settle: () => void;
  /** By `region/agent`. */
  readonly pulseOf: (member: string) => Pulse | null;
  readonly refusals: () => ReadonlyMap<string, Refusal>;
};

export type KeptReportsOptions = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Both read anew each time: the configuration may change. */
  readonly regions: readonly RegionId[];
  readonly reportKeys: ReportKeys;
  readonly expiredAfterMs: number;
};

export const createKeptReports = (options: KeptReportsOptions): KeptReports => {
  const { clock } = options;
  const kept = new Map<string, KeptReport>();
  /** Of those kept, the ones out of a world file: no live report has come since. */
  const restored = new Set<string>();
  const quota = createReportQuota();
  const { refuse, forget, reasonOf, remembered } = createReportRefusals(options.log, options.metrics, clock.epochMs);
  const pulses = createAgentPulses(clock.epochMs);

  const agentOf = (member: string): Agent | null => {
    const slash = member.indexOf("/");
    const region = RegionId.safeParse(member.slice(0, slash));
    if (!region.success || !options.regions.includes(region.data)) {
      refuse(member, "unknown", "unknown-region", "the configuration has no such region");
      return null;
    }
    const agent = AgentId.safeParse(member.slice(slash + 1));
    if (!agent.success) {
      refuse(`${region.data}/`, region.data, "no-name", "no agent may be called so");
      return null;
    }
    return { member, region: region.data, agent: agent.data };
  };
  const believed = ({ member, region, agent }: Agent, value: string): RegionReport | null => {
    const check = checkReport(value, { region, agent }, options.reportKeys.get(region) ?? []);
    if (check.kind === "refused") {
      refuse(member, region, check.reason, check.detail);
      return null;
    }
    const whyNot = quota.whyNot(region, member, value.length);
    if (whyNot !== null) {
      refuse(`${region}/`, region, "too-many", whyNot);
      return null;
    }
    forget(member);
    return check.report;
  };

  return {
    heard: () => [...kept.values()],
    has: (member) => kept.has(member),
    agents: () => [...kept].map(([member, { report }]) => ({ member, region: report.region, agent: report.agent })),
    agentOf,
    isWorthReading: ({ member }) => reasonOf(member) !== "too-large",
    crowded: (region, most) =>
      refuse(`${region}/`, region, "too-many", `more than ${most} agents are listed; the rest is not read`),
    hear: (agent, stored) => {
      if (stored.remainingMs === null || stored.remainingMs > KEYS.report.ttlMs) {
        refuse(agent.member, agent.region, "time-to-live", `expected ${KEYS.report.ttlMs} ms at most`);
        return false;
      }
      const report = believed(agent, stored.value);
      if (report === null) return false;
      const { member } = agent;
      const before = kept.get(member)?.report;
      const isKnown = before?.boot === report.boot && before.seq >= report.seq;
      if (isKnown && !restored.has(member)) return false;
      const ageWhenHeardMs = KEYS.report.ttlMs - stored.remainingMs;
      kept.set(member, { report, heardAtMs: clock.monotonicMs(), ageWhenHeardMs });
      pulses.beat(member, report, ageWhenHeardMs);
      restored.delete(member);
      return true;
    },
    missing: ({ member }) => {
      const saved = kept.get(member);
      if (saved === undefined || !restored.delete(member)) return;
      const nowMs = clock.monotonicMs();
      kept.set(member, { ...saved, heardAtMs: nowMs, ageWhenHeardMs: Math.max(0, nowMs - madeAtMs(saved)) });
    },
    restore: ({ report: raw, ageMs, savedForMs }) => {
      const name = SavedName.safeParse(raw).data;
      const agent = name === undefined ? null : agentOf(`${name.region}/${name.agent}`);
      const report = agent === null ? null : believed(agent, JSON.stringify(raw));
      if (agent === null || report === null) return false;
      kept.set(agent.member, { report, heardAtMs: clock.monotonicMs() - savedForMs, ageWhenHeardMs: ageMs });
      restored.add(agent.member);
      return true;
    },
    forget: (listed) => {
      const nowMs = clock.monotonicMs();
      for (const [member, one] of kept) {
        const isExpired = nowMs - madeAtMs(one) > options.expiredAfterMs;
        const hasNewer = [...kept.values()].some(
          (other) => other.report.region === one.report.region && madeAtMs(other) > madeAtMs(one),
        );
        if (!isExpired || !hasNewer || listed.has(member)) continue;
        kept.delete(member);
        pulses.forget(member);
        quota.forget(one.report.region, member);
      }
    },
    settle: () => {
      for (const [member, { report }] of kept) {
        if (options.regions.includes(report.region)) continue;
        kept.delete(member);
        restored.delete(member);
        pulses.forget(member);
        quota.forget(report.region, member);
      }
    },
    pulseOf: pulses.of,
    refusals: remembered,
  };
};

const SavedName = z.looseObject({ region: RegionId, agent: AgentId });
