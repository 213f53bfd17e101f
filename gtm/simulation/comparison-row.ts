/** What is told of one policy after a play. */
import type { TurnRecord } from "./play.ts";

export type ComparisonRow = {
  readonly policy: string;
  /** Turns whose first token came within the time measured. */
  readonly turnsServed: number;
  /** Prompt tokens that were not computed; 0 to 1. */
  readonly cachedFraction: number;
  readonly ttftMeanMs: number;
  readonly ttftP50Ms: number;
  readonly ttftP95Ms: number;
  /** Of conversations' first turns, which have no context anywhere, and of all later ones. */
  readonly firstTurnMeanMs: number;
  readonly laterTurnMeanMs: number;
  /** Share of turns within the promise on TTFT; 0 to 1. */
  readonly sloAttainedFraction: number;
  readonly movesPerConversation: number;
  /** Share of the time that replicas spent on prefill; 0 to 1. */
  readonly utilisationFraction: number;
  /** What it would have been without any cache: the load, which no policy can change. */
  readonly noCacheUtilisationFraction: number;
};

export type Window = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly replicas: number;
  readonly sloMs: (promptTokens: number) => number;
  readonly noCachePrefillMs: (promptTokens: number) => number;
};

/** @param records of the whole play, warm-up included */
export const rowOf = (policy: string, records: readonly TurnRecord[], window: Window): ComparisonRow => {
  const { fromMs, toMs, replicas, sloMs, noCachePrefillMs } = window;
  const served = records.filter(({ answeredAtMs }) => answeredAtMs >= fromMs && answeredAtMs < toMs);
  const ttfts = served.map(({ ttftMs }) => ttftMs).sort((a, b) => a - b);
  const capacityMs = (toMs - fromMs) * replicas;
  const inWindowMs = (record: TurnRecord): number =>
    Math.max(0, Math.min(toMs, record.prefillToMs) - Math.max(fromMs, record.prefillFromMs));
  const sum = (list: readonly TurnRecord[], pick: (record: TurnRecord) => number): number =>
    list.reduce((total, record) => total + pick(record), 0);
  const meanTtft = (list: readonly TurnRecord[]): number => sum(list, ({ ttftMs }) => ttftMs) / list.length;
  return {
    policy,
    turnsServed: served.length,
    cachedFraction: sum(served, ({ cachedTokens }) => cachedTokens) / sum(served, ({ promptTokens }) => promptTokens),
    ttftMeanMs: meanTtft(served),
    ttftP50Ms: quantile(ttfts, 0.5),
    ttftP95Ms: quantile(ttfts, 0.95),
    firstTurnMeanMs: meanTtft(served.filter(({ turn }) => turn === 1)),
    laterTurnMeanMs: meanTtft(served.filter(({ turn }) => turn > 1)),
    sloAttainedFraction: served.filter((one) => one.ttftMs <= sloMs(one.promptTokens)).length / served.length,
    movesPerConversation:
      served.filter(({ hasMoved }) => hasMoved).length / new Set(served.map(({ conversation }) => conversation)).size,
    utilisationFraction: sum(records, inWindowMs) / capacityMs,
    noCacheUtilisationFraction: sum(served, ({ promptTokens }) => noCachePrefillMs(promptTokens)) / capacityMs,
  };
};

/** Nearest rank. @param sorted ascending; of none NaN */
const quantile = (sorted: readonly number[], fraction: number): number =>
  sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
