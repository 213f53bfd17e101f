/** Hears the agents' reports: at once by subscription, and all of them again by their index, should one have been missed. */
import type { Freeze } from "#gtm/domain/heard-report.ts";
import type { RegionId } from "#shared/ids.ts";
import { reportedChannel, reportKey } from "#shared/keys.ts";
import type { Store, Stored } from "#shared/store.ts";
import { type Agent, createAgentIndex } from "./agent-index.ts";
import { type AgentSeen, agentsSeen } from "./agents-seen.ts";
import { createKeptReports, type KeptReports, type KeptReportsOptions } from "./kept-reports.ts";
import { createReportAnnouncements } from "./report-announcements.ts";

export type { ReportKeys } from "./kept-reports.ts";

export type Resynced = {
  /** Something was answered: the store is there, at least for a part of what was asked. */
  readonly isAnswered: boolean;
  /** What could not be read, as people are told; null: everything was. */
  readonly fault: string | null;
  /** Of the fault. */
  readonly cause: unknown;
};

export type Reports = Pick<KeptReports, "heard" | "restore" | "settle"> & {
  /** Regions with an agent that the store remembers and of which no report was ever heard. */
  readonly regionsWithAbsentAgents: () => readonly RegionId[];
  /** Regions of which the store could not say, when it was asked last, what an agent reports. */
  readonly unread: () => ReadonlySet<RegionId>;
  /** Every agent that was heard of. @param freezesOf spans in which the ages of a region's reports stood still */
  readonly agents: (freezesOf: (region: RegionId) => readonly Freeze[]) => readonly AgentSeen[];
  /** Subscribes if that is not done yet, and reads every agent's report, each by itself. Never throws for the store. */
  readonly resync: () => Promise<Resynced>;
  readonly stop: () => Promise<void>;
};

export type ReportsOptions = KeptReportsOptions & {
  readonly store: Store;
  readonly onHeard: () => void;
  /** A report that was announced could not be read; the next resync will. */
  readonly onFailed: (cause: unknown) => void;
};

type Reading = {
  /** Agents that have a report in the store. */
  readonly reporting: Set<Agent>;
  readonly failed: Agent[];
  cause: unknown;
};

export const createReports = (options: ReportsOptions): Reports => {
  const { store } = options;
  const kept = createKeptReports(options);
  const unread = new Map<string, RegionId>();
  const index = createAgentIndex({
    ...{ store, clock: options.clock, agentOf: kept.agentOf, onCrowded: kept.crowded },
    get regions() {
      return options.regions;
    },
  });
  let awaited: readonly Agent[] = [];
  let unsubscribe: (() => void) | null = null;

  /** @returns whether it is news */
  const take = (agent: Agent, outcome: PromiseSettledResult<Stored | null>, into: Reading): boolean => {
    if (outcome.status === "rejected") {
      into.failed.push(agent);
      into.cause = outcome.reason;
      const isNews = !unread.has(agent.member);
      unread.set(agent.member, agent.region);
      return isNews;
    }
    const isReadAgain = unread.delete(agent.member);
    if (outcome.value === null) return isReadAgain;
    into.reporting.add(agent);
    return kept.hear(agent, outcome.value) || isReadAgain;
  };
  const read = async (agents: readonly Agent[]): Promise<Reading> => {
    const reading: Reading = { reporting: new Set(), failed: [], cause: null };
    const asked = agents.map(async (agent) => ({ agent, outcome: await outcomeOf(agent) }));
    let isNews = false;
    for (const { agent, outcome } of await Promise.all(asked)) isNews = take(agent, outcome, reading) || isNews;
    const { reporting, failed } = reading;
    // A store that has nobody's report was wiped: then silence says nothing of the agents.
    const silent = reporting.size === 0 ? [] : agents.filter((one) => !reporting.has(one) && !failed.includes(one));
    for (const agent of silent) kept.missing(agent);
    if (isNews) options.onHeard();
    return reading;
  };
  const outcomeOf = async ({ region, agent }: Agent): Promise<PromiseSettledResult<Stored | null>> => {
    const [outcome] = await Promise.allSettled([store.get(reportKey(region, agent))]);
    return outcome;
  };
  const announcements = createReportAnnouncements(async (members) => {
    const agents = members.map(kept.agentOf).filter((one) => one !== null);
    const { failed, cause } = await read(agents.filter(kept.isWorthReading));
    if (failed.length > 0) options.onFailed(cause);
  }, options.onFailed);
  const forgetUnread = (agents: readonly Agent[]): void => {
    const members = new Set(agents.map(({ member }) => member));
    for (const member of unread.keys()) if (!members.has(member)) unread.delete(member);
  };
  const listen = async (): Promise<void> => {
    unsubscribe ??= await store.subscribe(reportedChannel(), announcements.hear);
  };
  /** Takes stock of who is there, who is missing and who is gone. */
  const review = async (listed: readonly Agent[], reporting: ReadonlySet<Agent>): Promise<void> => {
    const gone = index.gone(listed, (agent) => reporting.has(agent) || unread.has(agent.member));
    const expected = listed.filter((agent) => !gone.has(agent));
    awaited = expected;
    kept.forget(new Set(expected.map(({ member }) => member)));
    for (const agent of gone) await index.remove(agent);
  };

  return {
    heard: kept.heard,
    restore: kept.restore,
    settle: kept.settle,
    regionsWithAbsentAgents: () => [
      ...new Set(awaited.filter(({ member }) => !kept.has(member)).map(({ region }) => region)),
    ],
    unread: () => new Set(unread.values()),
    agents: (freezesOf) =>
      agentsSeen({
        ...{ kept, listed: awaited, regions: options.regions, reportKeys: options.reportKeys, freezesOf },
        nowMs: options.clock.monotonicMs(),
      }),
    resync: async () => {
      const [heardOf, listing] = await Promise.all([settled(listen()), index.list()]);
      const isListed = listing.failed.length === 0;
      // Where the list cannot be read, those that we remember as well.
      const agents = isListed ? listing.agents : unionOf(listing.agents, kept.agents());
      forgetUnread(agents);
      const { reporting, failed, cause } = await read(agents);
      const swept = await settled(review(agents, reporting));
      const fault = faultOf([
        isListed ? null : `who reports in ${named(listing.failed)} is not listed, and new agents are not heard of`,
        failed.length === 0 ? null : `what ${regionsIn(failed)} reports cannot be read: its age stands still`,
        heardOf === null ? null : "news of reports come up to 2 s late",
        swept === null ? null : "agents that are gone cannot be taken off the list",
      ]);
      const isAnswered = listing.failed.length < options.regions.length || failed.length < agents.length;
      return { isAnswered, fault, cause: cause ?? listing.cause ?? heardOf ?? swept };
    },
    stop: async () => {
      announcements.stop();
      unsubscribe?.();
      unsubscribe = null;
    },
  };
};

const unionOf = (some: readonly Agent[], others: readonly Agent[]): readonly Agent[] => [
  ...some,
  ...others.filter(({ member }) => some.every((one) => one.member !== member)),
];

const named = (regions: readonly RegionId[]): string => [...new Set(regions)].sort().join(" and ");

const regionsIn = (agents: readonly Agent[]): string => named(agents.map(({ region }) => region));

/** @param faults null: that is not one */
const faultOf = (faults: readonly (string | null)[]): string | null => {
  const told = faults.filter((fault) => fault !== null);
  return told.length === 0 ? null : told.join("; ");
};

/** @returns why it failed; null: it did not */
const settled = (running: Promise<void>): Promise<unknown> =>
  running.then(
    () => null,
    (cause) => cause ?? new Error("rejected without a reason"),
  );
