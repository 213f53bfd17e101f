/** How much of the regions' caches the conversations that this instance served lately will use again: part of the memory price. */

import type { ConversationId, ModelId, RegionId } from "#shared/ids.ts";
import type { Conversation } from "./conversation.ts";
import { createOldest } from "./oldest.ts";
import { createReturnChance, RETURN_STEPS, type ReturnChance } from "./return-chance.ts";
import type { LiveTokens } from "./world-assembly.ts";

export type LiveLedger = {
  /** A turn was committed; what was counted for the conversation before is counted no more. */
  readonly commit: (turn: {
    readonly id: ConversationId;
    readonly region: RegionId;
    readonly model: ModelId;
    /** Of the whole context. */
    readonly tokens: number;
    readonly atMs: number;
    /** pNext of its pool. */
    readonly nextTurnFraction: number;
    /** Which turn of its conversation it is. */
    readonly turns: number;
  }) => void;
  /**
   * What the store says of a conversation: a later turn, or one elsewhere, was another instance's, which counts it; of the
   * turn that is counted here it says what a gateway measured.
   */
  readonly hear: (conversation: Conversation) => void;
  /** Another instance has it now, or nobody. */
  readonly forget: (id: ConversationId) => void;
  /** Σ tokens × chance of another turn, which falls while there is none, per placement, of turns within the pin's time. */
  readonly sums: (nowMs: number) => readonly LiveTokens[];
  /** Conversations within the pin's time, by region. */
  readonly conversations: (nowMs: number) => ReadonlyMap<RegionId, number>;
};

type Counted = {
  readonly region: RegionId;
  readonly model: ModelId;
  /** Expected to be used again. */
  readonly tokens: number;
  readonly nextTurnFraction: number;
  readonly turns: number;
  readonly atMs: number;
};

/** What is kept alive in one placement, by the step of time in which its turns were. */
type Kept = {
  readonly region: RegionId;
  readonly model: ModelId;
  count: number;
  readonly steps: Map<number, { tokens: number; count: number }>;
};

/** Beyond this the oldest are forgotten: the price is then too low, as it is without this ledger. */
const MOST = 200_000;

export const createLiveLedger = (options: { readonly pinMs: number }): LiveLedger => {
  /** By last turn, oldest first, since a commit moves its conversation to the end. */
  const counted = new Map<ConversationId, Counted>();
  const oldest = createOldest(counted, ({ atMs }) => atMs);
  const placements = new Map<string, Kept>();
  const chances = new Map<ModelId, ReturnChance>();
  const chanceOf = (model: ModelId): ReturnChance => {
    const known = chances.get(model);
    if (known !== undefined) return known;
    const made = createReturnChance(options.pinMs);
    chances.set(model, made);
    return made;
  };

  const add = ({ region, model, tokens, atMs }: Counted, sign: 1 | -1): void => {
    const key = `${region}|${model}`;
    const kept = placements.get(key) ?? { region, model, count: 0, steps: new Map() };
    const at = Math.floor(atMs / chanceOf(model).stepMs);
    const step = kept.steps.get(at) ?? { tokens: 0, count: 0 };
    step.tokens += sign * tokens;
    step.count += sign;
    kept.count += sign;
    // Without conversations there are no tokens, whatever rounding left behind.
    if (step.count === 0) kept.steps.delete(at);
    else kept.steps.set(at, step);
    if (kept.count === 0) placements.delete(key);
    else placements.set(key, kept);
  };
  const forget = (id: ConversationId): void => {
    const before = counted.get(id);
    if (before === undefined) return;
    counted.delete(id);
    add(before, -1);
  };
  const returned = (before: Counted | undefined, atMs: number): void => {
    if (before !== undefined && atMs >= before.atMs) chanceOf(before.model).returned(atMs - before.atMs);
  };
  const expire = (nowMs: number): void => {
    for (let first = oldest(); first !== null; first = oldest()) {
      const [id, { atMs, model }] = first;
      const isOver = nowMs - atMs > options.pinMs;
      if (counted.size <= MOST && !isOver) return;
      if (isOver) chanceOf(model).stayedAway();
      forget(id);
    }
  };
  /** By model, one a step of age. */
  const weightsAt = (nowMs: number): ReadonlyMap<ModelId, readonly number[]> => {
    const open = new Map<ModelId, number[]>();
    for (const { model, steps } of placements.values()) {
      const counts = open.get(model) ?? new Array<number>(RETURN_STEPS).fill(0);
      open.set(model, counts);
      const chance = chanceOf(model);
      for (const [at, { count }] of steps) {
        const age = ageOf(at, nowMs, chance);
        counts[age] = (counts[age] ?? 0) + count;
      }
    }
    return new Map([...open].map(([model, counts]) => [model, chanceOf(model).byStep(counts)]));
  };

  return {
    forget,
    hear: ({ id, turns, lastTurnAtMs, holdings: [home] }) => {
      const before = counted.get(id);
      if (before === undefined) return;
      if (turns > before.turns || home.region !== before.region) {
        returned(before, lastTurnAtMs);
        return forget(id);
      }
      const one = { ...before, tokens: home.tokens * before.nextTurnFraction };
      add(before, -1);
      // Its place in time stays.
      counted.set(id, one);
      add(one, 1);
    },
    commit: ({ id, region, model, tokens, atMs, nextTurnFraction, turns }) => {
      expire(atMs);
      returned(counted.get(id), atMs);
      forget(id);
      const one = { region, model, tokens: tokens * nextTurnFraction, nextTurnFraction, turns, atMs };
      counted.set(id, one);
      add(one, 1);
    },
    sums: (nowMs) => {
      expire(nowMs);
      const weights = weightsAt(nowMs);
      return [...placements.values()].map(({ region, model, steps }) => {
        const [chance, byAge] = [chanceOf(model), weights.get(model)];
        let tokens = 0;
        for (const [at, step] of steps) tokens += step.tokens * (byAge?.[ageOf(at, nowMs, chance)] ?? 0);
        return { region, model, tokens: Math.max(0, tokens) };
      });
    },
    conversations: (nowMs) => {
      expire(nowMs);
      const byRegion = new Map<RegionId, number>();
      for (const { region, count } of placements.values()) byRegion.set(region, (byRegion.get(region) ?? 0) + count);
      return byRegion;
    },
  };
};

const ageOf = (at: number, nowMs: number, { stepMs }: ReturnChance): number =>
  Math.min(RETURN_STEPS - 1, Math.max(0, Math.floor(nowMs / stepMs) - at));
