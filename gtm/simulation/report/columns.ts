/** The columns of every table of the report: what they are called, where they come from, how they are written. */
import { meanOfRuns } from "./regret.ts";
import type { PolicyReport } from "./report.ts";
import type { RunFigures } from "./run-figures.ts";

export type ReportColumn = {
  readonly title: string;
  /** For who has room for a sentence. */
  readonly says: string;
  /** Whether waits that grow make it meaningless. */
  readonly isUnboundedInOverload: boolean;
  readonly text: (policy: PolicyReport) => string;
};

export const NOTHING = "–";
export const GROWS = "grows";

const column = (
  title: string,
  says: string,
  figure: (run: RunFigures) => number | null,
  format: (value: number) => string,
  isUnboundedInOverload = false,
): ReportColumn => ({
  ...{ title, says, isUnboundedInOverload },
  text: ({ runs, waitsGrow }) => {
    if (waitsGrow && isUnboundedInOverload) return GROWS;
    const mean = meanOfRuns(runs, figure)?.mean ?? null;
    return mean === null ? NOTHING : format(mean);
  },
});

export const seconds = (ms: number): string => {
  const s = ms / 1_000;
  return s >= 99.95 ? s.toFixed(0) : s >= 9.995 ? s.toFixed(1) : s.toFixed(2);
};
export const percent = (fraction: number): string => `${(fraction * 100).toFixed(0)}%`;
export const signedPercent = (fraction: number): string => {
  const text = (fraction * 100).toFixed(Math.abs(fraction) < 0.0995 ? 1 : 0);
  return `${fraction >= 0 ? "+" : "−"}${text.replace("-", "")}`;
};
const whole = (value: number): string => value.toFixed(0);
/** "940", "12.3k", "4.56M" */
export const short = (value: number): string => {
  if (value >= 999_500) return `${(value / 1e6).toFixed(value >= 1e8 ? 0 : value >= 1e7 ? 1 : 2)}M`;
  return value >= 9_999.5 ? `${(value / 1e3).toFixed(1)}k` : value.toFixed(0);
};
const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(bytes >= 1e10 ? 0 : 2);
const cents = (value: number): string => value.toFixed(value >= 100 ? 0 : 1);

const TTFT_MEAN: ReportColumn = {
  title: "TTFT s",
  says: "Time to first token, mean of the seeds' means, ± half of its 95 % interval (Student's t over seeds), s.",
  isUnboundedInOverload: true,
  text: ({ runs, waitsGrow }) => {
    if (waitsGrow) return GROWS;
    const interval = meanOfRuns(runs, ({ ttftMeanMs }) => ttftMeanMs);
    if (interval === null) return NOTHING;
    const { mean, halfWidth } = interval;
    return halfWidth === null ? seconds(mean) : `${seconds(mean)}±${seconds(halfWidth)}`;
  },
};

const REGRET: ReportColumn = {
  title: "regret %",
  says: "Mean TTFT above the best rival's, in per cent of it, ± half of the 95 % interval of the paired differences; less than 0 is better than every rival.",
  isUnboundedInOverload: true,
  text: ({ standing, waitsGrow }) => {
    if (waitsGrow) return GROWS;
    if (standing.ttftMean === null) return NOTHING;
    const { mean, halfWidth } = standing.ttftMean;
    return halfWidth === null
      ? signedPercent(mean)
      : `${signedPercent(mean)}±${signedPercent(Math.abs(halfWidth)).slice(1)}`;
  },
};

/** What clients see. */
export const CLIENT_COLUMNS: readonly ReportColumn[] = [
  TTFT_MEAN,
  column("p50", "Median TTFT, s.", (run) => run.ttftP50Ms, seconds, true),
  column("p95", "95th percentile of TTFT, mean over seeds, s.", (run) => run.ttftP95Ms, seconds, true),
  column("p99", "99th percentile of TTFT, mean over seeds, s.", (run) => run.ttftP99Ms, seconds, true),
  column("first", "Mean TTFT of conversations' first turns, s.", (run) => run.firstTurnTtftMeanMs, seconds, true),
  column("later", "Mean TTFT of all later turns, s.", (run) => run.laterTurnTtftMeanMs, seconds, true),
  column("e2e p95", "95th percentile of the time to the last token, s.", (run) => run.endToEndP95Ms, seconds, true),
  column(
    "SLO",
    "Share of all turns asked whose first token came within the promise; lost ones missed it.",
    (run) => run.withinSloFraction,
    percent,
  ),
  column(
    ">3 s",
    "Share of the turns served that waited more than 3 s.",
    (run) => run.aboveThreeSecondsFraction,
    percent,
    true,
  ),
  column("turns", "Turns served, mean over seeds.", (run) => run.turnsServed, short),
  column("lost", "Turns that no region would serve or whose client gave up.", (run) => run.turnsLost, whole),
  REGRET,
];

/** What it takes. */
export const WORK_COLUMNS: readonly ReportColumn[] = [
  column("cached", "Share of prompt tokens that were not computed.", (run) => run.cachedFraction, percent),
  column(
    "again",
    "Tokens of conversations' turns before that were computed again.",
    (run) => run.recomputedTokens,
    short,
  ),
  column("GPU s", "GPU seconds of the prefills of turns that were served.", (run) => run.prefillGpuSeconds, short),
  column("used", "Share of all replicas' time that these prefills took.", (run) => run.utilisationFraction, percent),
  column("load", "What they would have taken without any cache.", (run) => run.noCacheLoadFraction, percent),
  column(
    "tok/s",
    "Output tokens a second, of all regions together.",
    (run) => run.outputTokensPerSecond,
    (value) => short(value),
  ),
  column(
    "each/s",
    "The same of one answer, from its first token on.",
    (run) => run.decodeTokensPerSecond,
    (value) => value.toFixed(1),
  ),
  column(
    "moves",
    "Moves a conversation.",
    (run) => run.movesPerConversation,
    (value) => value.toFixed(2),
  ),
  column("failed", "Attempts that failed before a turn was served.", (run) => run.failedAttempts, whole),
  column(
    "wait±",
    "Mean absolute error of the predicted wait in the queue, over the mean wait.",
    (run) => run.queueErrorFraction,
    percent,
  ),
  column(
    "TTFT±",
    "Mean absolute error of the predicted TTFT, over the mean TTFT.",
    (run) => run.ttftErrorFraction,
    percent,
  ),
  column(
    "GB",
    "Text of turns served elsewhere than in the region nearest to their client, at 4 bytes a token: crosses regions only where front doors forward; by 307 nothing does.",
    (run) => run.textBytesAcross,
    gigabytes,
  ),
  column("¢", "The same in US cents, by list prices between AWS regions.", (run) => run.textCentsAcross, cents),
  column(
    "¢ copy",
    "What copying the KV caches that moves left behind would have cost instead of computing them (Llama 3 70B, 327 680 bytes a token).",
    (run) => run.contextCentsLeft,
    cents,
  ),
];
