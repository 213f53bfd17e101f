/** The newest report of every agent: heard at once by subscription, and all of them again by their index, should one have been missed. */
import { type HeardReport, madeAtMs } from "#gtm/domain/heard-report.ts";
import type { Clock } from "#shared/clock.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey, KEYS, reportedChannel, reportKey } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";
import type { Store, Stored } from "#shared/store.ts";
import { checkReport } from "./report-check.ts";

export type Reports = {
  /** Expired ones included, as long as the region has no newer agent. */
  readonly heard: () => readonly HeardReport[];
  /** Regions with an agent that the store remembers and of which no report was ever heard. */
  readonly regionsWithAbsentAgents: () => readonly RegionId[];
  /** Subscribes if that is not done yet, and reads every agent's report. @throws {OperationalError} the store did not answer */
  readonly resync: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** A region without a key may report unsigned; during a change of keys it has two. */
export type ReportKeys = { readonly get: (region: RegionId) => readonly Uint8Array[] | undefined };

export type ReportsOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly regions: readonly RegionId[];
  readonly reportKeys: ReportKeys;
  readonly expiredAfterMs: number;
  readonly onHeard: () => void;
  /** A report that was announced could not be read; the next resync will. */
  readonly onFailed: (cause: unknown) => void;
};

/** An agent that was away this long has been taken out of service; until then its region counts as partial. */
const REMEMBERED_MS = 600_000;

type Agent = { readonly member: string; readonly region: RegionId; readonly agent: AgentId };
type Kept = HeardReport & { readonly report: RegionReport };

export const createReports = (options: ReportsOptions): Reports => {
  const { store, clock, log, regions } = options;
  const kept = new Map<string, Kept>();
  const announced = new Set<string>();
  /** Why an agent's last report was refused, so that each reason is told of once. */
  const refusals = new Map<string, string>();
  let absent: readonly RegionId[] = [];
  let unsubscribe: (() => void) | null = null;
  const refusedTotal = options.metrics.counter({
    name: "gtm_reports_refused_total",
    help: "Reports that were not believed, by region and reason; the previous one ages on.",
    labels: ["region", "reason"],
  });

  const refuse = (member: string, region: string, reason: string, detail: string): void => {
    refusedTotal.inc({ region, reason });
    // Anybody who reaches the store can invent names: they become neither labels nor memory.
    const teller = region === "unknown" ? "" : member;
    if (refusals.get(teller) === reason) return;
    refusals.set(teller, reason);
    log.warn("report.refused", { agent: member, reason, detail });
  };
  const agentOf = (member: string): Agent | null => {
    const slash = member.indexOf("/");
    const region = RegionId.safeParse(member.slice(0, slash));
    const agent = AgentId.safeParse(member.slice(slash + 1));
    if (!region.success || !agent.success || !regions.includes(region.data)) {
      refuse(member, "unknown", "unknown-region", "the configuration has no such region");
      return null;
    }
    return { member, region: region.data, agent: agent.data };
  };
  const hear = ({ member, region, agent }: Agent, stored: Stored): boolean => {
    const check = checkReport(stored.value, { region, agent }, options.reportKeys.get(region) ?? []);
    if (check.kind === "refused") {
      refuse(member, region, check.reason, check.detail);
      return false;
    }
    refusals.delete(member);
    const { report } = check;
    const before = kept.get(member)?.report;
    if (before?.boot === report.boot && before.seq >= report.seq) return false;
    const ageWhenHeardMs = stored.remainingMs === null ? 0 : Math.max(0, KEYS.report.ttlMs - stored.remainingMs);
    kept.set(member, { report, heardAtMs: clock.monotonicMs(), ageWhenHeardMs });
    return true;
  };
  /** @returns the agents that have a report in the store */
  const read = async (agents: readonly Agent[]): Promise<ReadonlySet<Agent>> => {
    const values = await store.getMany(agents.map(({ region, agent }) => reportKey(region, agent)));
    const reporting = new Set<Agent>();
    let isNews = false;
    for (const [at, agent] of agents.entries()) {
      const stored = values[at] ?? null;
      if (stored === null) continue;
      reporting.add(agent);
      isNews = hear(agent, stored) || isNews;
    }
    if (isNews) options.onHeard();
    return reporting;
  };
  /** Announcements of one turn of the event loop are read together. */
  const onAnnounced = (member: string): void => {
    announced.add(member);
    if (announced.size > 1) return;
    setImmediate(() => {
      const agents = [...announced].map(agentOf).filter((one) => one !== null);
      announced.clear();
      read(agents).catch(options.onFailed);
    });
  };
  /** A region's last report is kept however old; beside newer ones an expired agent that the store forgot is not missed. */
  const forget = (listed: ReadonlySet<string>): void => {
    const nowMs = clock.monotonicMs();
    for (const [member, one] of kept) {
      const isExpired = nowMs - madeAtMs(one) > options.expiredAfterMs;
      const hasNewer = [...kept.values()].some(
        (other) => other.report.region === one.report.region && madeAtMs(other) > madeAtMs(one),
      );
      if (isExpired && hasNewer && !listed.has(member)) kept.delete(member);
    }
  };

  return {
    heard: () => [...kept.values()],
    regionsWithAbsentAgents: () => absent,
    resync: async () => {
      unsubscribe ??= await store.subscribe(reportedChannel(), onAnnounced);
      const index = await store.indexRange(agentsKey(), 0, Number.MAX_SAFE_INTEGER);
      const agents = index.map(({ member }) => agentOf(member)).filter((one) => one !== null);
      const reporting = await read(agents);
      // By the agent's clock, which may be wrong: who has a report is there, whatever the index says.
      const since = clock.epochMs() - REMEMBERED_MS;
      const gone = new Set(index.filter(({ score }) => score < since).map(({ member }) => member));
      const expected = agents.filter((agent) => reporting.has(agent) || !gone.has(agent.member));
      absent = [...new Set(expected.filter(({ member }) => !kept.has(member)).map(({ region }) => region))];
      forget(new Set(expected.map(({ member }) => member)));
      for (const agent of agents) {
        if (!expected.includes(agent)) await store.indexRemove(agentsKey(), agent.member);
      }
    },
    stop: async () => {
      unsubscribe?.();
      unsubscribe = null;
    },
  };
};
