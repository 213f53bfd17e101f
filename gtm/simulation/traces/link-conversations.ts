/** Which request continues which, where a trace does not say. */
import { blockAt, eachBlock } from "./block-runs.ts";
import type { TimedTurn } from "./timed-turns.ts";

/** Fewer in common say nothing: everybody shares the system prompt. */
const LEAST_SHARED_BLOCKS = 2;

/**
 * A request continues the latest one whose full blocks it all begins with, at least two, and whose prompt is shorter. Ids must be
 * chained: equal ids, equal text up to there. Chats of fewer tokens than two blocks cannot be told, so turns are a lower bound.
 *
 * @param turns in the order of time
 * @returns a number of its conversation for each
 */
export const linkConversations = (turns: readonly TimedTurn[], blockTokens: number): readonly number[] => {
  /** By its last full block, the latest request that ended there and that nothing continues yet. */
  const open = new Map<number, { readonly conversation: number; readonly promptTokens: number }>();
  return turns.map(({ promptTokens, blocks }, number) => {
    const full = Math.floor(promptTokens / blockTokens);
    let continued: number | null = null;
    eachBlock(blocks, full, 1, (id, at) => {
      const before = at + 1 < LEAST_SHARED_BLOCKS ? undefined : open.get(id);
      if (before !== undefined && before.promptTokens < promptTokens) continued = id;
    });
    const conversation = continued === null ? number : (open.get(continued)?.conversation ?? number);
    if (continued !== null) open.delete(continued);
    const last = full < LEAST_SHARED_BLOCKS ? null : blockAt(blocks, full - 1);
    if (last !== null) open.set(last, { conversation, promptTokens });
    return conversation;
  });
};
