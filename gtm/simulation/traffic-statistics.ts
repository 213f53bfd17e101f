/** What a traffic is like: counts, lengths, pauses, and how much of its prompts a cache that forgets nothing would hold. */
import type { PlannedTurn, Traffic } from "./traffic.ts";
import { type Visit, visitTurns } from "./traffic-in-order.ts";

export type Spread = {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
};

export type TrafficStatistics = {
  readonly turns: number;
  readonly conversations: number;
  /** From the first question to the last, s. */
  readonly seconds: number;
  readonly turnsPerConversation: number;
  /** Share of conversations that have a second turn. */
  readonly continuedFraction: number;
  /** Tokens. */
  readonly prompt: Spread;
  readonly firstPrompt: Spread;
  readonly output: Spread;
  /** Of a conversation's prompts from one turn to the next, tokens; may be negative. */
  readonly growth: Spread;
  /** From question to question, s. */
  readonly gap: Spread;
  /** Of all prompt tokens: in whole blocks that some prompt before had, at the same place behind the same text. */
  readonly reusedFraction: number;
  /** The part of it that first turns have: prompts and documents that conversations share. */
  readonly reusedByFirstFraction: number;
};

/** Memory grows with the blocks seen: it is for looking at a traffic, not for playing it. */
export const trafficStatistics = (traffic: Traffic, visit: Visit): TrafficStatistics => {
  const seen = new Set<number>();
  const last = new Map<number, { readonly promptTokens: number; readonly atMs: number }>();
  const samples = { prompt: [], firstPrompt: [], output: [], growth: [], gap: [] } as Record<SpreadName, number[]>;
  let reused = 0;
  let reusedByFirst = 0;
  let continued = 0;
  let endsAtMs = 0;
  visitTurns(traffic, visit, (turn, atMs) => {
    const { conversation, promptTokens, outputTokens } = turn;
    const before = last.get(conversation);
    const held = takeIn(seen, turn, traffic.blockTokens);
    reused += held;
    samples.prompt.push(promptTokens);
    samples.output.push(outputTokens);
    if (before === undefined) {
      reusedByFirst += held;
      samples.firstPrompt.push(promptTokens);
    } else {
      if (turn.turn === 2) continued += 1;
      samples.growth.push(promptTokens - before.promptTokens);
      samples.gap.push((atMs - before.atMs) / 1_000);
    }
    last.set(conversation, { promptTokens, atMs });
    endsAtMs = atMs;
  });
  const turns = samples.prompt.length;
  const tokens = Math.max(1, sumOf(samples.prompt));
  return {
    turns,
    conversations: last.size,
    seconds: endsAtMs / 1_000,
    turnsPerConversation: turns / Math.max(1, last.size),
    continuedFraction: continued / Math.max(1, last.size),
    prompt: spreadOf(samples.prompt),
    firstPrompt: spreadOf(samples.firstPrompt),
    output: spreadOf(samples.output),
    growth: spreadOf(samples.growth),
    gap: spreadOf(samples.gap),
    reusedFraction: reused / tokens,
    reusedByFirstFraction: reusedByFirst / tokens,
  };
};

type SpreadName = "prompt" | "firstPrompt" | "output" | "growth" | "gap";

/** @returns tokens of the prompt's blocks that were there; answers are not taken in, as published counts do not */
const takeIn = (seen: Set<number>, { blocks, promptTokens }: PlannedTurn, blockTokens: number): number => {
  const full = Math.min(blocks.length, Math.floor(promptTokens / blockTokens));
  let held = 0;
  let missing = full + 1;
  while (missing - held > 1) {
    // Whoever has one has all before it: hashes are chained.
    const middle = (held + missing) >>> 1;
    if (seen.has(blocks[middle - 1] ?? 0)) held = middle;
    else missing = middle;
  }
  for (let at = held; at < full; at++) seen.add(blocks[at] ?? 0);
  return held * blockTokens;
};

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** All 0 for no numbers. */
const spreadOf = (numbers: number[]): Spread => {
  const sorted = numbers.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { mean: sumOf(sorted) / Math.max(1, sorted.length), p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
};
