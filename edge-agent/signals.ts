/** What the agent says of itself: its metrics, and one warning where many would follow. */
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { RegionReport } from "#shared/report.ts";

export type AgentSignals = {
  readonly roundEnded: (report: RegionReport, tookMs: number) => void;
  /** Rounds whose time passed while an earlier one was still going on. */
  readonly roundsSkipped: (count: number) => void;
  /** One source was asked; `isAnswered` also where the answer was a refusal. */
  readonly sourceAsked: (source: string, isAnswered: boolean, tookMs: number) => void;
  readonly reportPut: () => void;
  readonly reportFailed: (reason: string) => void;
};

/** Fields of faults that mean: there was no answer to read. */
const UNREAD = new Set(["page", "models", "health"]);

/** The same trouble is told again after this. */
const REMIND_AFTER_MS = 60_000;

export const createAgentSignals = (
  region: string,
  by: { clock: Clock; log: Logger; metrics: Metrics },
): AgentSignals => {
  const { clock, log, metrics } = by;
  const labels = ["region"];
  const rounds = metrics.counter({
    name: "edge_agent_rounds_total",
    help: "Rounds of scraping and reporting.",
    labels,
  });
  const skipped = metrics.counter({
    name: "edge_agent_rounds_skipped_total",
    help: "Rounds left out because an earlier one took longer than the interval.",
    labels,
  });
  const duration = metrics.histogram({
    name: "edge_agent_round_duration_seconds",
    help: "From asking the engines to having put the report.",
    labels,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 5],
  });
  const faults = metrics.counter({
    name: "edge_agent_faults_total",
    help: "Reasons for fields that are not known, one a report and source.",
    labels: ["region", "source", "code"],
  });
  const scrapes = metrics.counter({
    name: "edge_agent_scrapes_total",
    help: "Times that a source was asked, by whether anything answered.",
    labels: ["region", "source", "outcome"],
  });
  const scrapeDuration = metrics.histogram({
    name: "edge_agent_scrape_duration_seconds",
    help: "From asking one source to its last answer.",
    labels,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 5],
  });
  const put = metrics.counter({ name: "edge_agent_reports_put_total", help: "Reports put into the store.", labels });
  const failed = metrics.counter({
    name: "edge_agent_reports_failed_total",
    help: "Reports that the store did not take; a newer one follows.",
    labels,
  });
  for (const counter of [rounds, skipped, put, failed]) counter.inc({ region }, 0);
  const storeUp = metrics.gauge({
    name: "edge_agent_store_up",
    help: "1 while the store takes the reports, 0 while it does not; absent before the first.",
    labels,
  });

  const sources = createTroubles(clock);
  const store = createTroubles(clock);
  return {
    roundEnded: (report, tookMs) => {
      rounds.inc({ region });
      duration.observe(tookMs / 1_000, { region });
      for (const { source, code } of report.faults) faults.inc({ region, source, code });
      const bySource = Map.groupBy(report.faults, ({ source }) => source);
      for (const [source, found] of bySource) {
        const text = found.map(({ field, code }) => `${field}: ${code}`).join(", ");
        const code = found.some(({ field }) => UNREAD.has(field)) ? "AGENT_SCRAPE_FAILED" : "AGENT_PAYLOAD_INVALID";
        if (sources.isWorthTelling(source, text)) log.warn("source.faulty", { region, source, code, faults: text });
      }
      for (const source of sources.endedBut(bySource)) log.info("source.recovered", { region, source });
    },
    sourceAsked: (source, isAnswered, tookMs) => {
      scrapes.inc({ region, source, outcome: isAnswered ? "answered" : "silent" });
      scrapeDuration.observe(tookMs / 1_000, { region });
    },
    roundsSkipped: (count) => skipped.inc({ region }, count),
    reportPut: () => {
      put.inc({ region });
      storeUp.set(1, { region });
      for (const _ of store.endedBut(new Map())) log.info("store.recovered", { region });
    },
    reportFailed: (reason) => {
      failed.inc({ region });
      storeUp.set(0, { region });
      if (store.isWorthTelling("store", ""))
        log.warn("report.not-put", { region, code: "AGENT_PUBLISH_FAILED", reason });
    },
  };
};

type Troubles = {
  /** New, changed, or a minute old: told; else known already. A trouble that trembles is told once a minute. */
  readonly isWorthTelling: (subject: string, text: string) => boolean;
  /** Forgets the troubles that are over, and names them. */
  readonly endedBut: (current: ReadonlyMap<string, unknown>) => readonly string[];
};

const createTroubles = (clock: Clock): Troubles => {
  const told = new Map<string, { texts: Set<string>; atMs: number }>();
  return {
    isWorthTelling: (subject, text) => {
      const before = told.get(subject);
      const isOld = before === undefined || clock.monotonicMs() - before.atMs >= REMIND_AFTER_MS;
      if (!isOld && before.texts.has(text)) return false;
      if (isOld) told.set(subject, { texts: new Set([text]), atMs: clock.monotonicMs() });
      else before.texts.add(text);
      return true;
    },
    endedBut: (current) => {
      const ended = [...told.keys()].filter((subject) => !current.has(subject));
      for (const subject of ended) told.delete(subject);
      return ended;
    },
  };
};
