/** The ledger of a conversation: which regions hold how much of it, after a turn, and when two GTMs wrote at once. */

import type { ConversationId, ModelId, RegionId } from "#shared/ids.ts";
import { type Conversation, type Holding, holdingIn, homeOf } from "./conversation.ts";
import { standsOrdered } from "./conversation-move.ts";

const MOST_HOLDINGS = 3;
const PARALLEL_MS = 1_000;

export type ServedTurn = {
  readonly id: ConversationId;
  readonly model: ModelId;
  readonly region: RegionId;
  /** Of the context when the turn is over: prompt and output. */
  readonly tokens: number;
  /** Monotonic ms. */
  readonly atMs: number;
};

/**
 * A turn leaves its context where it was served: that holding replaces an older one of the region. Where turns ran in
 * parallel only the newest may move the home: one that is committed late takes its place in time. What a gateway measured
 * there (it names the replica) is no less after the next turn, however short an estimate makes that one.
 *
 * @param before null: this is the first turn, or nothing is known of earlier ones; another model's ledger is void
 * @param keptForMs older holdings are dropped
 */
export const afterTurn = (before: Conversation | null, turn: ServedTurn, keptForMs: number): Conversation => {
  const known = before !== null && before.model === turn.model ? before : null;
  const estimated = { region: turn.region, replica: null, tokens: Math.round(turn.tokens), atMs: turn.atMs };
  const holding = beside(estimated, holdingIn(known, turn.region));
  const lastTurnAtMs = Math.max(turn.atMs, known?.lastTurnAtMs ?? turn.atMs);
  return {
    id: turn.id,
    model: turn.model,
    holdings: newestFirst([holding], known?.holdings ?? [], lastTurnAtMs - keptForMs) ?? [holding],
    turns: (known?.turns ?? 0) + 1,
    lastTurnAtMs,
    rev: before?.rev ?? 0,
    refusedBy: before?.refusedBy ?? [],
  };
};

/**
 * An estimate that follows what was measured in the same region. It names no replica: by that a gateway knows that the turn
 * was counted already, and the replica is known again when it has measured it.
 */
const beside = (estimated: Holding, measured: Holding | null): Holding =>
  measured === null || measured.replica === null || estimated.replica !== null
    ? estimated
    : { ...estimated, tokens: Math.max(estimated.tokens, measured.tokens) };

/**
 * What goes on top of what is stored. The store tells ages to the second: what was measured there stands against an estimate
 * that may be of the same turn.
 */
const onTopOf = (stored: Conversation, mine: readonly Holding[]): readonly Holding[] =>
  mine.flatMap((holding) => {
    const there = holdingIn(stored, holding.region);
    const isSettled = there !== null && there.replica !== null && holding.atMs - there.atMs < PARALLEL_MS;
    return isSettled ? [] : [beside(holding, there)];
  });

/**
 * What two GTMs know of one conversation, made one: the newest holdings of both. Of equally new ones the stored one is home,
 * so that turns in parallel keep it. Turns count once too few where both counted.
 *
 * @param stored what stands in the store; its revision is what a write has to name
 */
export const mergedWith = (stored: Conversation, mine: Conversation, keptForMs: number): Conversation => {
  if (stored.model !== mine.model)
    return stored.lastTurnAtMs >= mine.lastTurnAtMs ? stored : { ...mine, rev: stored.rev };
  const lastTurnAtMs = Math.max(stored.lastTurnAtMs, mine.lastTurnAtMs);
  return {
    ...stored,
    holdings: newestFirst(onTopOf(stored, mine.holdings), stored.holdings, lastTurnAtMs - keptForMs) ?? stored.holdings,
    turns: Math.max(stored.turns, mine.turns),
    lastTurnAtMs,
  };
};

/** The same, where turns less than a second apart ran in parallel: the store tells ages to the second, and the stored home stays. */
export const settledWith = (stored: Conversation, mine: Conversation, keptForMs: number): Conversation => {
  const settled = homeSettled(stored, mergedWith(stored, mine, keptForMs));
  if (settled.isHomeOrdered !== true || standsOrdered(stored, mine, settled)) return settled;
  const { isHomeOrdered: _, ...rest } = settled;
  return rest;
};

const homeSettled = (stored: Conversation, merged: Conversation): Conversation => {
  const held = holdingIn(merged, homeOf(stored));
  if (held === null || merged.model !== stored.model || merged.holdings[0].atMs - held.atMs >= PARALLEL_MS)
    return merged;
  return { ...merged, holdings: [held, ...merged.holdings.filter((one) => one !== held)] };
};

/**
 * The same, where mine was placed without knowing what was stored, because the store answered late: the stored home stands,
 * and what the turn left behind is held beside it, as old as the home at the least, so that it stays second everywhere.
 */
export const homeKeptWith = (stored: Conversation, mine: Conversation, keptForMs: number): Conversation => {
  if (stored.model !== mine.model) return settledWith(stored, mine, keptForMs);
  const [home] = stored.holdings;
  const older = mine.holdings.map((one) =>
    one.region === home.region ? one : { ...one, atMs: Math.min(one.atMs, home.atMs - 1) },
  );
  const [first = home, ...others] = older;
  return settledWith(stored, { ...mine, holdings: [first, ...others] }, keptForMs);
};

/** Whether what was merged says anything that the store does not: a turn, a holding, another home. */
export const addsTo = (stored: Conversation, merged: Conversation): boolean =>
  merged.model !== stored.model ||
  merged.turns > stored.turns ||
  merged.lastTurnAtMs - stored.lastTurnAtMs >= PARALLEL_MS ||
  homeOf(merged) !== homeOf(stored) ||
  merged.holdings.some(({ region, tokens }) => holdingIn(stored, region)?.tokens !== tokens);

/** What is left of a conversation at a later time; null: nothing. */
export const keptAt = (conversation: Conversation, nowMs: number, keptForMs: number): Conversation | null => {
  const oldestMs = nowMs - keptForMs;
  if (conversation.holdings.every(({ atMs }) => atMs > oldestMs)) return conversation;
  const [home, ...others] = conversation.holdings.filter(({ atMs }) => atMs > oldestMs);
  return home === undefined ? null : { ...conversation, holdings: [home, ...others] };
};

/**
 * One a region, its newest, the later word where both are equally new; of equally new regions the one that was home stays it.
 *
 * @returns null: all are too old
 */
const newestFirst = (
  later: readonly Holding[],
  earlier: readonly Holding[],
  oldestMs: number,
): Conversation["holdings"] | null => {
  const homeFirst = ({ region }: Holding): number => (region === earlier[0]?.region ? 0 : 1);
  const kept: Holding[] = [];
  const take = (holding: Holding): void => {
    if (holding.atMs <= oldestMs) return;
    const at = kept.findIndex(({ region }) => region === holding.region);
    const known = kept[at];
    if (known === undefined) kept.push(holding);
    else if (holding.atMs > known.atMs) kept[at] = holding;
  };
  for (const holding of later) take(holding);
  for (const holding of earlier) take(holding);
  if (kept.length > 1) kept.sort((a, b) => b.atMs - a.atMs || homeFirst(a) - homeFirst(b));
  const [home, ...others] = kept.length > MOST_HOLDINGS ? kept.slice(0, MOST_HOLDINGS) : kept;
  return home === undefined ? null : [home, ...others];
};
