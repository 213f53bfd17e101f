/** Adds up one run as it is played: turn by turn, in an amount of memory that does not depend on how many there are. */
import { LATE_FIRST_TOKEN_MS } from "#gtm/domain/late-first-token.ts";
import { prefillMs } from "#gtm/domain/serving.ts";
import type { FleetRegion, Happening } from "../scenario.ts";
import type { LostTurn, TurnRecord } from "../turn-record.ts";
import { createConversationMemory } from "./conversation-memory.ts";
import { egressCentsPerByte } from "./egress-price.ts";
import { createLogHistogram, type LogHistogram, observe } from "./log-histogram.ts";
import { addToRecovery, createRunRecoveries, type RunRecovery } from "./run-recovery.ts";
import { addToSeries, createRunSeries, type RunSeries } from "./run-series.ts";

export type TallyOptions = {
  readonly fleet: readonly FleetRegion[];
  /** Played before, and not counted. */
  readonly warmUpMs: number;
  /** Turns that are asked in this time after it count, whenever they are answered. */
  readonly measuredMs: number;
  /** Promise on TTFT for a prompt of that length. */
  readonly sloMs: (promptTokens: number) => number;
  readonly happenings: readonly Happening[];
};

export type Sums = {
  lost: number;
  failedAttempts: number;
  conversations: number;
  firstTurns: number;
  firstTtftMs: number;
  laterTtftMs: number;
  decodedTokens: number;
  decodeMs: number;
  withinSlo: number;
  aboveThreeSeconds: number;
  promptTokens: number;
  outputTokens: number;
  cachedTokens: number;
  recomputedTokens: number;
  /** GPU time of the prefills of turns that were served. */
  prefillMs: number;
  /** Of the whole fleet's time, 0 to 1: what the turns asked would have taken without any cache. */
  noCacheFraction: number;
  moves: number;
  queuedMs: number;
  predicted: number;
  queuedOfPredictedMs: number;
  queueErrorMs: number;
  ttftOfPredictedMs: number;
  ttftErrorMs: number;
  textBytes: number;
  textCents: number | null;
  contextBytes: number;
  contextCents: number | null;
  /** Turns and their wait in each third of the time measured, by when they were asked. */
  readonly thirds: readonly { turns: number; queuedMs: number }[];
};

export type RunTally = {
  readonly sums: Sums;
  readonly ttft: LogHistogram;
  readonly endToEnd: LogHistogram;
  readonly series: RunSeries;
  /** One a death of a region, in the order of time. */
  readonly recoveries: readonly RunRecovery[];
};

export type RunTallier = RunTally & {
  readonly onTurn: (record: TurnRecord) => void;
  readonly onLost: (turn: LostTurn) => void;
};

/** Chosen: about what English and code take in UTF-8. */
const TEXT_BYTES_PER_TOKEN = 4;
/** Llama 3 70B in 16 bits: 2 × 80 layers × 8 KV heads × 128 × 2 bytes. */
const KV_BYTES_PER_TOKEN = 327_680;

export const createRunTally = ({ fleet, warmUpMs, measuredMs, sloMs, happenings }: TallyOptions): RunTallier => {
  const sums = noSums();
  const ttft = createLogHistogram();
  const endToEnd = createLogHistogram();
  const series = createRunSeries(fleet.length, warmUpMs + measuredMs);
  const recoveries = createRunRecoveries(happenings, fleet.length);
  const conversations = createConversationMemory();
  const prices = fleet.map((from) => fleet.map((to) => egressCentsPerByte(from.site.id, to.site.id)));
  const isPromised = ({ askedAtMs, firstTokenAtMs, promptTokens }: TurnRecord): boolean =>
    firstTokenAtMs - askedAtMs <= sloMs(promptTokens);
  const isMeasured = (askedAtMs: number): boolean => askedAtMs >= warmUpMs && askedAtMs < warmUpMs + measuredMs;

  const computedMs = ({ region, promptTokens, cachedTokens }: TurnRecord): number => {
    const served = fleet[region];
    return served === undefined ? 0 : prefillMs(served.engine.speed, promptTokens - cachedTokens, promptTokens);
  };
  /** Regions work in parallel, each at its own speed: what all of them do of such prompts in the time, and the share that one takes. */
  const noCacheFractionOf = (promptTokens: number): number => {
    const prompts = fleet.reduce(
      (sum, { replicas, engine }) =>
        sum + (replicas * measuredMs) / prefillMs(engine.speed, promptTokens, promptTokens),
      0,
    );
    return promptTokens > 0 ? 1 / prompts : 0;
  };
  const onMeasured = (record: TurnRecord, gpuMs: number): void => {
    const ttftMs = record.firstTokenAtMs - record.askedAtMs;
    observe(ttft, ttftMs);
    observe(endToEnd, record.lastTokenAtMs - record.askedAtMs);
    addTimes(sums, record, ttftMs);
    addTokens(sums, record);
    addPrediction(sums, record, ttftMs);
    addTextAcross(sums, record, prices);
    if (isPromised(record)) sums.withinSlo += 1;
    sums.prefillMs += gpuMs;
    sums.noCacheFraction += noCacheFractionOf(record.promptTokens);
    const third = sums.thirds[Math.floor((3 * (record.askedAtMs - warmUpMs)) / measuredMs)];
    if (third === undefined) return;
    third.turns += 1;
    third.queuedMs += record.queuedMs;
  };

  return {
    ...{ sums, ttft, endToEnd, series, recoveries },
    onTurn: (record) => {
      const isCounted = isMeasured(record.askedAtMs);
      const gpuMs = computedMs(record);
      addToSeries(series, record, gpuMs);
      for (const recovery of recoveries) addToRecovery(recovery, record, warmUpMs, sloMs(record.promptTokens));
      const { conversation, promptTokens, outputTokens } = record;
      const before = conversations.see(conversation, promptTokens + outputTokens, isCounted);
      if (!isCounted) return;
      onMeasured(record, gpuMs);
      if (!before.isCounted) sums.conversations += 1;
      addContext(sums, record, Math.min(before.contextTokens, promptTokens), prices);
    },
    onLost: ({ askedAtMs }) => {
      if (isMeasured(askedAtMs)) sums.lost += 1;
    },
  };
};

const addTimes = (sums: Sums, record: TurnRecord, ttftMs: number): void => {
  if (record.turn === 1) {
    sums.firstTurns += 1;
    sums.firstTtftMs += ttftMs;
  } else {
    sums.laterTtftMs += ttftMs;
  }
  if (ttftMs > LATE_FIRST_TOKEN_MS) sums.aboveThreeSeconds += 1;
  sums.queuedMs += record.queuedMs;
  sums.failedAttempts += record.failedAttempts;
  sums.decodedTokens += Math.max(0, record.outputTokens - 1);
  sums.decodeMs += record.lastTokenAtMs - record.firstTokenAtMs;
};

const addTokens = (sums: Sums, { promptTokens, outputTokens, cachedTokens }: TurnRecord): void => {
  sums.promptTokens += promptTokens;
  sums.outputTokens += outputTokens;
  sums.cachedTokens += cachedTokens;
};

const addPrediction = (sums: Sums, { predicted, queuedMs }: TurnRecord, ttftMs: number): void => {
  if (predicted === null) return;
  sums.predicted += 1;
  sums.queuedOfPredictedMs += queuedMs;
  sums.queueErrorMs += Math.abs(predicted.queueMs - queuedMs);
  sums.ttftOfPredictedMs += ttftMs;
  sums.ttftErrorMs += Math.abs(predicted.ttftMs - ttftMs);
};

type Prices = readonly (readonly (number | null)[])[];

/** What would cross if the nearest region's front door forwarded: the prompt's text there, the answer's back. */
const addTextAcross = (sums: Sums, record: TurnRecord, prices: Prices): void => {
  const { nearest, region, promptTokens, outputTokens } = record;
  if (nearest === region) return;
  const [there, back] = [promptTokens * TEXT_BYTES_PER_TOKEN, outputTokens * TEXT_BYTES_PER_TOKEN];
  sums.textBytes += there + back;
  const cents = plus(times(there, prices[nearest]?.[region]), times(back, prices[region]?.[nearest]));
  sums.textCents = plus(sums.textCents, cents);
};

/** @param contextTokens what the turn before left in its region */
const addContext = (sums: Sums, record: TurnRecord, contextTokens: number, prices: Prices): void => {
  sums.recomputedTokens += Math.max(0, contextTokens - record.cachedTokens);
  const { previous, region } = record;
  if (previous === null || previous === region) return;
  sums.moves += 1;
  const bytes = contextTokens * KV_BYTES_PER_TOKEN;
  sums.contextBytes += bytes;
  sums.contextCents = plus(sums.contextCents, times(bytes, prices[previous]?.[region]));
};

/** What is unknown makes the sum unknown. */
const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
const times = (bytes: number, cents: number | null | undefined): number | null =>
  bytes === 0 ? 0 : cents == null ? null : bytes * cents;

const noSums = (): Sums => ({
  ...{ lost: 0, failedAttempts: 0, conversations: 0, firstTurns: 0, firstTtftMs: 0, laterTtftMs: 0 },
  ...{ decodedTokens: 0, decodeMs: 0, withinSlo: 0, aboveThreeSeconds: 0 },
  ...{ promptTokens: 0, outputTokens: 0, cachedTokens: 0, recomputedTokens: 0 },
  ...{ prefillMs: 0, noCacheFraction: 0, moves: 0, queuedMs: 0 },
  ...{ predicted: 0, queuedOfPredictedMs: 0, queueErrorMs: 0, ttftOfPredictedMs: 0, ttftErrorMs: 0 },
  ...{ textBytes: 0, textCents: 0, contextBytes: 0, contextCents: 0 },
  thirds: Array.from({ length: 3 }, () => ({ turns: 0, queuedMs: 0 })),
});
