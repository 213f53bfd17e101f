/**
 * What a router in the path believes each region's caches hold: the prefixes that it sent there, the least recently used
 * of them forgotten once they are more than the caches have room for.
 */
import type { BlockHashes } from "../serving/prefix-cache.ts";

export type Match = {
  readonly tokens: number;
  /** The replica that served the last block of it; null: nothing matches. */
  readonly replica: number | null;
};

export type PrefixIndex = {
  readonly match: (region: number, blocks: BlockHashes, promptTokens: number) => Match;
  readonly held: (region: number, replica: number, blocks: BlockHashes, tokens: number) => void;
  /** A region died, and its caches with it. */
  readonly forget: (region: number) => void;
};

/** Finer than this a prefix need not be known. */
const LEAST_STEP_TOKENS = 128;

/** @param capacityTokens of each region, all its replicas together */
export const createPrefixIndex = (capacityTokens: readonly number[], blockTokens: number): PrefixIndex => {
  const step = Math.max(1, Math.round(LEAST_STEP_TOKENS / blockTokens));
  /** From the hash of every step's last block to the replica, the least recently used first. */
  const regions = capacityTokens.map(() => new Map<number, number>());
  const most = capacityTokens.map((tokens) => Math.max(1, Math.floor(tokens / (blockTokens * step))));
  const hashAt = (blocks: BlockHashes, at: number): number => blocks[at * step - 1] ?? 0;
  return {
    match: (region, blocks, promptTokens) => {
      const known = regions[region];
      // The last token of a prompt is always computed.
      const limit = Math.floor(Math.min(blocks.length, Math.floor((promptTokens - 1) / blockTokens)) / step);
      let held = 0;
      let missing = limit + 1;
      while (missing - held > 1) {
        const middle = (held + missing) >>> 1;
        if (known?.has(hashAt(blocks, middle)) === true) held = middle;
        else missing = middle;
      }
      return {
        tokens: held * step * blockTokens,
        replica: held === 0 ? null : (known?.get(hashAt(blocks, held)) ?? null),
      };
    },
    held: (region, replica, blocks, tokens) => {
      const known = regions[region];
      if (known === undefined) return;
      const steps = Math.floor(Math.min(blocks.length, Math.floor(tokens / blockTokens)) / step);
      // Last to first: a sequence's end is of no use without its beginning, and goes before it.
      for (let at = steps; at >= 1; at--) {
        known.delete(hashAt(blocks, at));
        known.set(hashAt(blocks, at), replica);
      }
      for (const hash of known.keys()) {
        if (known.size <= (most[region] ?? 0)) break;
        known.delete(hash);
      }
    },
    forget: (region) => regions[region]?.clear(),
  };
};
