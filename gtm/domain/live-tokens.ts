/** How much of the regions' caches the conversations that this instance served lately will use again: part of the memory price. */

import type { ConversationId, ModelId, RegionId } from "#shared/ids.ts";
import type { Conversation } from "./conversation.ts";
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
  /** Σ tokens × chance of another turn, per placement, of turns within the pin's time. */
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

/** Beyond this the oldest are forgotten: the price is then too low, as it is without this ledger. */
const MOST = 200_000;

export const createLiveLedger = (options: { readonly pinMs: number }): LiveLedger => {
  /** By last turn, oldest first, since a commit moves its conversation to the end. */
  const counted = new Map<ConversationId, Counted>();
  const placements = new Map<
    string,
    { readonly region: RegionId; readonly model: ModelId; tokens: number; count: number }
  >();

  const add = ({ region, model, tokens }: Counted, sign: 1 | -1): void => {
    const key = `${region}|${model}`;
    const placement = placements.get(key) ?? { region, model, tokens: 0, count: 0 };
    placement.tokens += sign * tokens;
    placement.count += sign;
    // Without conversations there are no tokens, whatever rounding left behind.
    if (placement.count === 0) placements.delete(key);
    else placements.set(key, placement);
  };
  const forget = (id: ConversationId): void => {
    const before = counted.get(id);
    if (before === undefined) return;
    counted.delete(id);
    add(before, -1);
  };
  const expire = (nowMs: number): void => {
    for (const [id, { atMs }] of counted) {
      if (counted.size <= MOST && nowMs - atMs <= options.pinMs) return;
      forget(id);
    }
  };

  return {
    forget,
    hear: ({ id, turns, holdings: [home] }) => {
      const before = counted.get(id);
      if (before === undefined) return;
      if (turns > before.turns || home.region !== before.region) return forget(id);
      const one = { ...before, tokens: home.tokens * before.nextTurnFraction };
      add(before, -1);
      // Its place in time stays.
      counted.set(id, one);
      add(one, 1);
    },
    commit: ({ id, region, model, tokens, atMs, nextTurnFraction, turns }) => {
      forget(id);
      const one = { region, model, tokens: tokens * nextTurnFraction, nextTurnFraction, turns, atMs };
      counted.set(id, one);
      add(one, 1);
      if (counted.size > MOST) expire(atMs);
    },
    sums: (nowMs) => {
      expire(nowMs);
      return [...placements.values()].map(({ region, model, tokens }) => ({
        region,
        model,
        tokens: Math.max(0, tokens),
      }));
    },
    conversations: (nowMs) => {
      expire(nowMs);
      const byRegion = new Map<RegionId, number>();
      for (const { region, count } of placements.values()) byRegion.set(region, (byRegion.get(region) ?? 0) + count);
      return byRegion;
    },
  };
};
