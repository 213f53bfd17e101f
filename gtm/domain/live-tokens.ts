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
  readonly kept: Kept;
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
  readonly steps: Steps;
};
/** In the order in which they began; columns side by side, since every world sums them up. */
type Steps = { readonly at: number[]; readonly tokens: number[]; readonly count: number[] };

/** Beyond this the oldest are forgotten: the price is then too low, as it is without this ledger. */
const MOST = 200_000;

export const createLiveLedger = (options: { readonly pinMs: number }): LiveLedger => {
  /** By last turn, oldest first, since a commit moves its conversation to the end. */
  const counted = new Map<ConversationId, Counted>();
  const oldest = createOldest(counted, ({ atMs }) => atMs);
  /** Every one that was ever served: as many as are configured. */
  const placements: Kept[] = [];
  const chances = new Map<ModelId, ReturnChance>();
  const chanceOf = (model: ModelId): ReturnChance => {
    const known = chances.get(model);
    if (known !== undefined) return known;
    const made = createReturnChance(options.pinMs);
    chances.set(model, made);
    return made;
  };

  const keptIn = (region: RegionId, model: ModelId): Kept => {
    const known = placements.find((one) => one.region === region && one.model === model);
    if (known !== undefined) return known;
    const made: Kept = { region, model, count: 0, steps: { at: [], tokens: [], count: [] } };
    placements.push(made);
    return made;
  };
  const add = ({ kept, tokens, atMs }: Counted, sign: 1 | -1): void => {
    addTo(kept.steps, Math.floor(atMs / chanceOf(kept.model).stepMs), sign * tokens, sign);
    kept.count += sign;
  };
  const forget = (id: ConversationId): void => {
    const before = counted.get(id);
    if (before === undefined) return;
    counted.delete(id);
    add(before, -1);
  };
  const returned = (before: Counted | undefined, atMs: number): void => {
    if (before !== undefined && atMs >= before.atMs) chanceOf(before.kept.model).returned(atMs - before.atMs);
  };
  const expire = (nowMs: number): void => {
    for (let first = oldest(); first !== null; first = oldest()) {
      const [id, { atMs, kept }] = first;
      const isOver = nowMs - atMs > options.pinMs;
      if (counted.size <= MOST && !isOver) return;
      if (isOver) chanceOf(kept.model).stayedAway();
      forget(id);
    }
  };
  /** By model, one a step of age. */
  const weightsAt = (nowMs: number): ReadonlyMap<ModelId, readonly number[]> => {
    const open = new Map<ModelId, Float64Array>();
    for (const { model, steps } of placements) {
      const counts = open.get(model) ?? new Float64Array(RETURN_STEPS);
      open.set(model, counts);
      const nowAt = Math.floor(nowMs / chanceOf(model).stepMs);
      for (let i = 0; i < steps.at.length; i++) {
        const age = ageOf(steps.at[i] ?? 0, nowAt);
        counts[age] = (counts[age] ?? 0) + (steps.count[i] ?? 0);
      }
    }
    const weights = new Map<ModelId, readonly number[]>();
    for (const [model, counts] of open) weights.set(model, chanceOf(model).byStep(counts));
    return weights;
  };

  return {
    forget,
    hear: ({ id, turns, lastTurnAtMs, holdings: [home] }) => {
      const before = counted.get(id);
      if (before === undefined) return;
      if (turns > before.turns || home.region !== before.kept.region) {
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
      const kept = keptIn(region, model);
      const one = { kept, tokens: tokens * nextTurnFraction, nextTurnFraction, turns, atMs };
      counted.set(id, one);
      add(one, 1);
    },
    sums: (nowMs) => {
      expire(nowMs);
      const weights = weightsAt(nowMs);
      const sums: LiveTokens[] = [];
      for (const { region, model, steps, count } of placements) {
        if (count === 0) continue;
        const nowAt = Math.floor(nowMs / chanceOf(model).stepMs);
        const byAge = weights.get(model);
        let tokens = 0;
        for (let i = 0; i < steps.at.length; i++) {
          tokens += (steps.tokens[i] ?? 0) * (byAge?.[ageOf(steps.at[i] ?? 0, nowAt)] ?? 0);
        }
        sums.push({ region, model, tokens: Math.max(0, tokens) });
      }
      return sums;
    },
    conversations: (nowMs) => {
      expire(nowMs);
      const byRegion = new Map<RegionId, number>();
      for (const { region, count } of placements) {
        if (count > 0) byRegion.set(region, (byRegion.get(region) ?? 0) + count);
      }
      return byRegion;
    },
  };
};

const addTo = (steps: Steps, at: number, tokens: number, count: number): void => {
  // Nearly always the newest, which is the last.
  const i = steps.at.lastIndexOf(at);
  if (i === -1) {
    steps.at.push(at);
    steps.tokens.push(tokens);
    steps.count.push(count);
    return;
  }
  const left = (steps.count[i] ?? 0) + count;
  steps.tokens[i] = (steps.tokens[i] ?? 0) + tokens;
  steps.count[i] = left;
  if (left !== 0) return;
  // Without conversations there are no tokens, whatever rounding left behind.
  for (const column of [steps.at, steps.tokens, steps.count]) column.splice(i, 1);
};

/** @param at @param nowAt numbers of steps */
const ageOf = (at: number, nowAt: number): number => Math.min(RETURN_STEPS - 1, Math.max(0, nowAt - at));
