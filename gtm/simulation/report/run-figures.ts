/** The columns of the report, of one run: one scenario, one policy, one seed. */
import { meanOf, quantileOf } from "./log-histogram.ts";
import type { RunTally } from "./run-tally.ts";

/** Fractions are 0 to 1; null: there is nothing it could be of. */
export type RunFigures = {
  readonly seed: number;
  /** Asked in the time measured and answered to the end. */
  readonly turnsServed: number;
  readonly turnsLost: number;
  /** Asked in the time measured and still without the end of their answer when the play was over. */
  readonly turnsUnfinished: number;
  readonly failedAttempts: number;
  readonly conversations: number;
  readonly firstTurns: number;
  readonly ttftMeanMs: number | null;
  readonly ttftP50Ms: number | null;
  readonly ttftP95Ms: number | null;
  readonly ttftP99Ms: number | null;
  readonly firstTurnTtftMeanMs: number | null;
  readonly laterTurnTtftMeanMs: number | null;
  readonly endToEndMeanMs: number | null;
  readonly endToEndP95Ms: number | null;
  /** Of all regions together, over the time measured. */
  readonly outputTokensPerSecond: number;
  /** As a client sees it: tokens after the first, over the time from the first to the last. */
  readonly decodeTokensPerSecond: number | null;
  /** Of all turns asked: lost and unfinished ones missed it. */
  readonly withinSloFraction: number | null;
  /** Of the turns served. */
  readonly aboveThreeSecondsFraction: number | null;
  readonly cachedFraction: number | null;
  /** Prompt tokens of a conversation's turn before, computed again. */
  readonly recomputedTokens: number;
  /** GPU time of the prefills of the turns served; that of attempts that failed is not in it. */
  readonly prefillGpuSeconds: number;
  /** The same, of all replicas' time. */
  readonly utilisationFraction: number;
  /** What it would have been without any cache: the load, which no policy changes. */
  readonly noCacheLoadFraction: number;
  readonly moves: number;
  readonly movesPerConversation: number | null;
  readonly queueMeanMs: number | null;
  /** Mean absolute error of the wait that the policy predicted, and the same over the mean wait; null: it predicts none. */
  readonly queueErrorMs: number | null;
  readonly queueErrorFraction: number | null;
  readonly ttftErrorMs: number | null;
  readonly ttftErrorFraction: number | null;
  /** Prompts and answers of turns served elsewhere than in the region nearest to the client: what proxies would forward. */
  readonly textBytesAcross: number;
  /** null: a region's price is not known. */
  readonly textCentsAcross: number | null;
  /** KV caches that conversations left behind when they moved: what a copy would have carried instead of computing. */
  readonly contextBytesLeft: number;
  readonly contextCentsLeft: number | null;
};

export type RunEnd = {
  readonly seed: number;
  /** Of all regions together. */
  readonly replicas: number;
  readonly measuredMs: number;
  readonly unfinished: number;
};

export const runFigures = (tally: RunTally, { seed, replicas, measuredMs, unfinished }: RunEnd): RunFigures => {
  const { sums, ttft, endToEnd } = tally;
  const served = ttft.total;
  return {
    seed,
    turnsServed: served,
    turnsLost: sums.lost,
    turnsUnfinished: unfinished,
    failedAttempts: sums.failedAttempts,
    conversations: sums.conversations,
    firstTurns: sums.firstTurns,
    ttftMeanMs: meanOf(ttft),
    ttftP50Ms: quantileOf(ttft, 0.5),
    ttftP95Ms: quantileOf(ttft, 0.95),
    ttftP99Ms: quantileOf(ttft, 0.99),
    firstTurnTtftMeanMs: over(sums.firstTtftMs, sums.firstTurns),
    laterTurnTtftMeanMs: over(sums.laterTtftMs, served - sums.firstTurns),
    endToEndMeanMs: meanOf(endToEnd),
    endToEndP95Ms: quantileOf(endToEnd, 0.95),
    outputTokensPerSecond: sums.outputTokens / (measuredMs / 1_000),
    decodeTokensPerSecond: over(sums.decodedTokens, sums.decodeMs / 1_000),
    withinSloFraction: over(sums.withinSlo, served + sums.lost + unfinished),
    aboveThreeSecondsFraction: over(sums.aboveThreeSeconds, served),
    cachedFraction: over(sums.cachedTokens, sums.promptTokens),
    recomputedTokens: sums.recomputedTokens,
    prefillGpuSeconds: sums.prefillMs / 1_000,
    utilisationFraction: sums.prefillMs / (replicas * measuredMs),
    noCacheLoadFraction: sums.noCacheFraction,
    moves: sums.moves,
    movesPerConversation: over(sums.moves, sums.conversations),
    queueMeanMs: over(sums.queuedMs, served),
    queueErrorMs: over(sums.queueErrorMs, sums.predicted),
    queueErrorFraction: over(sums.queueErrorMs, sums.queuedOfPredictedMs),
    ttftErrorMs: over(sums.ttftErrorMs, sums.predicted),
    ttftErrorFraction: over(sums.ttftErrorMs, sums.ttftOfPredictedMs),
    textBytesAcross: sums.textBytes,
    textCentsAcross: sums.textCents,
    contextBytesLeft: sums.contextBytes,
    contextCentsLeft: sums.contextCents,
  };
};

const over = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);
