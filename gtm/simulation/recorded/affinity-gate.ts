/** Whether keeping conversations where their context is helps a traffic at all, and why or why not. */
import { type PrefillSpeed, prefillMs } from "#gtm/domain/serving.ts";
import type { Traffic } from "../traffic.ts";
import { type Visit, visitTurns } from "../traffic-in-order.ts";

export type GateFleet = {
  readonly regions: number;
  readonly replicas: number;
  readonly speed: PrefillSpeed;
  /** Of all replicas together. */
  readonly kvTokens: number;
};

export type AffinityGate = {
  readonly helps: boolean;
  /** Sentences for a person, the decisive one first. */
  readonly reasons: readonly string[];
  readonly figures: {
    readonly turns: number;
    /** Of all prompt tokens: in blocks that the same conversation's turns before had. */
    readonly reusedFraction: number;
    /** Of those: asked for again within the life of a context in the caches. */
    readonly inTimeFraction: number;
    /** How long caches keep a context nobody asks for; Infinity: nothing is written. */
    readonly cacheLifeMs: number;
    /** Half of the reused tokens wait so long at most; null: nothing is reused. */
    readonly thinkP50Ms: number | null;
    /** Of what the fleet could prefill without any cache. */
    readonly noCacheUtilisation: number;
    /** Prefill of a turn saved against sending turns anywhere, ms, mean. */
    readonly savedMs: number;
    /** The same as a share of the prefill work. */
    readonly savedFraction: number;
  };
};

/** Less than this the margin of steering swallows, and nobody feels it. */
const LEAST_SAVED_MS = 50;
/** This much of the work is worth having whatever it is a turn: it is capacity. */
const LEAST_SAVED_FRACTION = 0.05;

/** An estimate from the traffic alone, nothing is played; compare policies by simulating them. */
export const affinityGate = (traffic: Traffic, fleet: GateFleet, visit: Visit): AffinityGate => {
  const seen = look(traffic, fleet.speed, visit);
  const { turns, promptTokens, outputTokens, reusedTokens, workMs, spanMs } = seen;
  // With affinity a context is written once: what is not reused, and the answers. T = C ÷ λ.
  const writtenPerMs = (promptTokens - reusedTokens + outputTokens) / Math.max(1, spanMs);
  const cacheLifeMs = writtenPerMs > 0 ? fleet.kvTokens / writtenPerMs : Number.POSITIVE_INFINITY;
  const inTime = seen.reuses.filter(({ waitMs }) => waitMs <= cacheLifeMs);
  const savedWorkMs = inTime.reduce((sum, one) => sum + one.savedMs, 0) * (1 - 1 / Math.max(1, fleet.regions));
  const figures = {
    turns,
    reusedFraction: reusedTokens / Math.max(1, promptTokens),
    inTimeFraction: inTime.reduce((sum, one) => sum + one.tokens, 0) / Math.max(1, reusedTokens),
    cacheLifeMs,
    thinkP50Ms: medianWait(seen.reuses, reusedTokens),
    noCacheUtilisation: workMs / Math.max(1, spanMs * fleet.replicas),
    savedMs: savedWorkMs / Math.max(1, turns),
    savedFraction: savedWorkMs / Math.max(1, workMs),
  };
  const helps =
    fleet.regions > 1 && (figures.savedMs >= LEAST_SAVED_MS || figures.savedFraction >= LEAST_SAVED_FRACTION);
  return { helps, reasons: reasonsOf(helps, figures, fleet), figures };
};

type Reuse = { readonly tokens: number; readonly waitMs: number; readonly savedMs: number };

const look = (traffic: Traffic, speed: PrefillSpeed, visit: Visit) => {
  const last = new Map<
    number,
    { readonly blocks: number; readonly atMs: number; readonly hashes: ArrayLike<number> }
  >();
  const sums = { turns: 0, promptTokens: 0, outputTokens: 0, reusedTokens: 0, workMs: 0, spanMs: 0 };
  const reuses: Reuse[] = [];
  visitTurns(traffic, visit, ({ conversation, parent, promptTokens, outputTokens, blocks }, atMs) => {
    const before = last.get(conversation) ?? (parent === null ? undefined : last.get(parent));
    const full = Math.floor(promptTokens / traffic.blockTokens);
    const held =
      before === undefined
        ? 0
        : commonBlocks(before.hashes, blocks, Math.min(before.blocks, full)) * traffic.blockTokens;
    const workMs = prefillMs(speed, promptTokens, promptTokens);
    if (before !== undefined && held > 0) {
      const savedMs = workMs - prefillMs(speed, promptTokens - held, promptTokens);
      reuses.push({ tokens: held, waitMs: atMs - before.atMs, savedMs });
    }
    sums.turns += 1;
    sums.promptTokens += promptTokens;
    sums.outputTokens += outputTokens;
    sums.reusedTokens += held;
    sums.workMs += workMs;
    sums.spanMs = atMs;
    last.set(conversation, { blocks: full, atMs, hashes: blocks });
  });
  return { ...sums, reuses };
};

/** Hashes are chained: those in common come first. */
const commonBlocks = (a: ArrayLike<number>, b: ArrayLike<number>, limit: number): number => {
  let common = 0;
  let different = limit + 1;
  while (different - common > 1) {
    const middle = (common + different) >>> 1;
    if (a[middle - 1] === b[middle - 1]) common = middle;
    else different = middle;
  }
  return common;
};

const medianWait = (reuses: readonly Reuse[], tokens: number): number | null => {
  let left = tokens / 2;
  for (const { tokens: some, waitMs } of reuses.toSorted((a, b) => a.waitMs - b.waitMs)) {
    left -= some;
    if (left <= 0) return waitMs;
  }
  return null;
};

const percent = (fraction: number): string => `${Math.round(fraction * 100)} %`;
const seconds = (ms: number): string => (Number.isFinite(ms) ? `${Math.round(ms / 1_000)} s` : "for ever");

const reasonsOf = (helps: boolean, figures: AffinityGate["figures"], { regions }: GateFleet): readonly string[] => {
  const saved = `Sending turns to their context saves ${Math.round(figures.savedMs)} ms of prefill a turn, ${percent(figures.savedFraction)} of the work`;
  const facts = [
    `${percent(figures.reusedFraction)} of all prompt tokens were in the conversation's turn before.`,
    figures.thinkP50Ms === null
      ? "No context is ever asked for again."
      : `Half of them are asked for again within ${seconds(figures.thinkP50Ms)}; caches keep a context about ${seconds(figures.cacheLifeMs)}, in time for ${percent(figures.inTimeFraction)}.`,
    `The load is ${percent(figures.noCacheUtilisation)} of what the fleet could prefill without any cache.`,
  ];
  if (helps) return [`${saved}.`, ...facts];
  if (regions <= 1) return ["There is one region: nothing is to be chosen.", ...facts];
  if (figures.reusedFraction > LEAST_SAVED_FRACTION && figures.inTimeFraction < 0.5) {
    return [
      "Contexts are gone before they are asked for again: more KV memory would help, affinity does not.",
      ...facts,
    ];
  }
  return [`${saved}: less than anybody feels.`, ...facts];
};
