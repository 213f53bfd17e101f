/** Reports that are not believed: counted each time, told of once for each reason, and not told of without end. */
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

export type ReportRefusals = {
  /** @param region `unknown` where the configuration has none of this name */
  readonly refuse: (member: string, region: string, reason: string, detail: string) => void;
  /** The agent's report was believed again. */
  readonly forget: (member: string) => void;
  /** Why the agent's last report was refused; null: it was not, or so many were that nobody remembers. */
  readonly reasonOf: (member: string) => string | null;
  /** Of agents by `region/agent`, those that are believed again included; of a region as a whole by `region/`. */
  readonly remembered: () => ReadonlyMap<string, Refusal>;
};

/** What was refused of one agent. */
export type Refusal = {
  readonly region: string;
  readonly count: number;
  readonly reason: string;
  readonly detail: string;
  /** Unix epoch ms, of the last. */
  readonly atMs: number;
  /** No report was believed since. */
  readonly isStanding: boolean;
};

/** Of one region, whose reasons are told one by one: a person reads no more of them. */
const MOST_TOLD = 50;
const MOST_REMEMBERED = 10_000;
/** Agents of which it is kept what was refused, with what was wrong. */
const MOST_KEPT = 1_000;
/** A region's and an agent's name and the slash between them. */
const LONGEST_NAME = 127;

/** @param nowMs Unix epoch */
export const createReportRefusals = (log: Logger, metrics: Metrics, nowMs: () => number): ReportRefusals => {
  const reasons = new Map<string, string>();
  const kept = new Map<string, Refusal>();
  const told = new Map<string, Set<string>>();
  const refusedTotal = metrics.counter({
    name: "gtm_reports_refused_total",
    help: "Reports that were not believed, by region and reason; the previous one ages on.",
    labels: ["region", "reason"],
  });

  const isWorthTelling = (teller: string, region: string): boolean => {
    const ofRegion = told.get(region) ?? new Set<string>();
    told.set(region, ofRegion.size >= MOST_TOLD ? ofRegion : ofRegion.add(teller));
    return ofRegion.has(teller);
  };
  const keep = (teller: string, refused: Pick<Refusal, "region" | "reason" | "detail">): void => {
    const before = kept.get(teller);
    if (teller === "" || (before === undefined && kept.size >= MOST_KEPT)) return;
    kept.set(teller, { ...refused, count: (before?.count ?? 0) + 1, atMs: nowMs(), isStanding: true });
  };
  return {
    refuse: (member, region, reason, detail) => {
      refusedTotal.inc({ region, reason });
      // Anybody who reaches the store can invent names: they become neither labels nor memory.
      const teller = region === "unknown" ? "" : member;
      keep(teller, { region, reason, detail });
      if (reasons.get(teller) === reason) return;
      if (reasons.size < MOST_REMEMBERED || reasons.has(teller)) reasons.set(teller, reason);
      if (!isWorthTelling(teller, region)) return;
      log.warn("report.refused", { agent: member.slice(0, LONGEST_NAME), reason, detail });
    },
    forget: (member) => {
      const refusal = kept.get(member);
      if (refusal?.isStanding === true) kept.set(member, { ...refusal, isStanding: false });
      if (!reasons.delete(member)) return;
      for (const ofRegion of told.values()) ofRegion.delete(member);
    },
    reasonOf: (member) => reasons.get(member) ?? null,
    remembered: () => kept,
  };
};
