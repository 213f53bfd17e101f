/** What is told of one policy after a play. */
import type { PlayedTotals } from "./play-totals.ts";
import type { TurnRecord } from "./turn-record.ts";

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
  readonly sloMs: (promptTokens: number) => number;
};

/** @param records of the whole play, warm-up included @param regions what they did within the window */
export const rowOf = (
  policy: string,
  records: readonly TurnRecord[],
  regions: PlayedTotals["regions"],
  { fromMs, toMs, sloMs }: Window,
): ComparisonRow => {
  const served = records.filter(({ firstTokenAtMs }) => firstTokenAtMs >= fromMs && firstTokenAtMs < toMs);
  const ttfts = served.map(ttftMs).sort((a, b) => a - b);
  const sum = <One>(list: readonly One[], pick: (one: One) => number): number =>
    list.reduce((total, one) => total + pick(one), 0);
  const meanTtft = (list: readonly TurnRecord[]): number => sum(list, ttftMs) / list.length;
  const capacityMs = (toMs - fromMs) * sum(regions, ({ replicas }) => replicas);
  return {
    policy,
    turnsServed: served.length,
    cachedFraction: sum(served, ({ cachedTokens }) => cachedTokens) / sum(served, ({ promptTokens }) => promptTokens),
    ttftMeanMs: meanTtft(served),
    ttftP50Ms: quantile(ttfts, 0.5),
    ttftP95Ms: quantile(ttfts, 0.95),
    firstTurnMeanMs: meanTtft(served.filter(({ turn }) => turn === 1)),
    laterTurnMeanMs: meanTtft(served.filter(({ turn }) => turn > 1)),
    sloAttainedFraction: served.filter((one) => ttftMs(one) <= sloMs(one.promptTokens)).length / served.length,
    movesPerConversation:
      served.filter(({ region, previous }) => previous !== null && previous !== region).length /
      new Set(served.map(({ conversation }) => conversation)).size,
    utilisationFraction: sum(regions, ({ prefillMs }) => prefillMs) / capacityMs,
    noCacheUtilisationFraction: sum(regions, ({ noCachePrefillMs }) => noCachePrefillMs) / capacityMs,
  };
};

const ttftMs = ({ firstTokenAtMs, askedAtMs }: TurnRecord): number => firstTokenAtMs - askedAtMs;

/** Nearest rank. @param sorted ascending; of none NaN */
const quantile = (sorted: readonly number[], fraction: number): number =>
  sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
