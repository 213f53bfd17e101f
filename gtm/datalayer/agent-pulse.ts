/** What an agent's reports tell one after another: how often they come, which never came, whether it was started again. */
import type { RegionReport } from "#shared/report.ts";

export type Pulse = {
  /** Unix epoch ms by our clock: of the first report that we heard, and of the newest. */
  readonly firstHeardAtMs: number;
  readonly lastHeardAtMs: number;
  /** ms from one report to the next, by the agent's own clock, averaged; null: two have not come yet. */
  readonly intervalMs: number | null;
  /** Reports that were heard and were news. */
  readonly heardReports: number;
  /** Numbers that its reports passed over: made and never heard here. */
  readonly missedReports: number;
  /** How often another process began to speak in its name. */
  readonly restarts: number;
  /** Unix epoch ms; two processes take turns under this name, at last then. null: never seen. */
  readonly doubledAtMs: number | null;
  /** How far its clock is ahead of ours, ms; below 0: behind. */
  readonly clockAheadMs: number;
};

export type AgentPulses = {
  /** A report that is news. @param ageMs how old it was when it was heard, by the store's clock */
  readonly beat: (member: string, report: RegionReport, ageMs: number) => void;
  readonly of: (member: string) => Pulse | null;
  readonly forget: (member: string) => void;
};

/** Weight of the newest interval. */
const NEWEST = 0.2;
/** Of processes that spoke before: one that was started again never comes back. */
const MOST_BOOTS = 4;

type Kept = Pulse & { readonly report: RegionReport; readonly earlierBoots: readonly string[] };

/** @param nowMs Unix epoch. Whoever calls bounds how many agents there are, and forgets those that are gone. */
export const createAgentPulses = (nowMs: () => number): AgentPulses => {
  const kept = new Map<string, Kept>();
  return {
    beat: (member, report, ageMs) => {
      const before = kept.get(member);
      const atMs = nowMs();
      const clockAheadMs = Math.round(report.reportedAtMs - (atMs - ageMs));
      kept.set(
        member,
        before === undefined
          ? { ...FIRST, firstHeardAtMs: atMs, lastHeardAtMs: atMs, clockAheadMs, report }
          : {
              ...before,
              ...since(before, report, atMs),
              heardReports: before.heardReports + 1,
              lastHeardAtMs: atMs,
              clockAheadMs,
              report,
            },
      );
    },
    of: (member) => kept.get(member) ?? null,
    forget: (member) => {
      kept.delete(member);
    },
  };
};

const FIRST = {
  intervalMs: null,
  heardReports: 1,
  missedReports: 0,
  restarts: 0,
  doubledAtMs: null,
  earlierBoots: [],
} as const;

const since = (before: Kept, report: RegionReport, atMs: number): Partial<Kept> => {
  const { report: last, earlierBoots } = before;
  if (last.boot !== report.boot) {
    return {
      restarts: before.restarts + 1,
      doubledAtMs: earlierBoots.includes(report.boot) ? atMs : before.doubledAtMs,
      earlierBoots: [...earlierBoots, last.boot].slice(-MOST_BOOTS),
    };
  }
  const steps = report.seq - last.seq;
  const each = (report.reportedAtMs - last.reportedAtMs) / steps;
  // A clock that was set back says nothing of the interval.
  const isSound = steps > 0 && each > 0;
  const intervalMs = before.intervalMs === null ? each : before.intervalMs * (1 - NEWEST) + each * NEWEST;
  return {
    missedReports: before.missedReports + Math.max(0, steps - 1),
    ...(isSound ? { intervalMs } : {}),
  };
};
