/** A replica's KV memory: a fixed number of blocks; those in use are pinned, the others keep what they held until needed. */
import { copyBlockTable, createBlockTable, findBlock, nameBlock, unnameBlock } from "./block-table.ts";

/** Hashes of a sequence's full blocks, first to last; an array that grows with its conversation may be shared. */
export type BlockHashes = ArrayLike<number>;

export type PrefixCache = {
  readonly totalBlocks: number;
  /** Blocks pinned by requests; the rest is free, whatever it still holds. */
  readonly usedBlocks: () => number;
  /** How many of the first `limit` blocks of a sequence are held, without a gap. */
  readonly matchedBlocks: (hashes: BlockHashes, limit: number) => number;
  /**
   * Pins the matched blocks and takes the least recently used free ones for the rest.
   *
   * @returns the sequence's blocks; null: it does not fit beside what is pinned now
   */
  readonly pin: (hashes: BlockHashes, matched: number, needed: number) => Int32Array | null;
  /** Says what the blocks from `from` up to `to`, excluded, hold; a content that another block holds already stays there. */
  readonly name: (blocks: Int32Array, hashes: BlockHashes, from: number, to: number) => void;
  /** Unpins; a sequence's last blocks are the first to go, since nothing can use them without the ones before. */
  readonly release: (blocks: Int32Array) => void;
  /** Forgets what every block holds; pinned ones stay pinned. */
  readonly forget: () => void;
  /** An independent copy, at the cost of copying memory. */
  readonly fork: () => PrefixCache;
};

type Memory = {
  readonly table: ReturnType<typeof createBlockTable>;
  /** How many requests pin each block. */
  readonly pins: Int32Array;
  /** Free blocks as a ring through the extra last entry, least recently used first. */
  readonly next: Int32Array;
  readonly previous: Int32Array;
  free: number;
};

/** @param totalBlocks at least 1 */
export const createPrefixCache = (totalBlocks: number): PrefixCache => {
  const next = new Int32Array(totalBlocks + 1);
  const previous = new Int32Array(totalBlocks + 1);
  for (let block = 0; block <= totalBlocks; block++) {
    next[block] = block === totalBlocks ? 0 : block + 1;
    previous[block] = block === 0 ? totalBlocks : block - 1;
  }
  const pins = new Int32Array(totalBlocks);
  return cacheIn({ table: createBlockTable(totalBlocks), pins, next, previous, free: totalBlocks });
};

const cacheIn = (memory: Memory): PrefixCache => {
  const { table, pins } = memory;
  const totalBlocks = pins.length;

  const pinNew = (): number => {
    const block = memory.next[totalBlocks] ?? 0;
    unlink(memory, block);
    unnameBlock(table, block);
    pins[block] = 1;
    return block;
  };
  const pinMatched = (block: number): void => {
    if (pins[block] === 0) unlink(memory, block);
    pins[block] = (pins[block] ?? 0) + 1;
  };
  /** Free blocks that stay free when the matched ones are pinned. */
  const freeBeside = (hashes: BlockHashes, matched: number): number => {
    let free = memory.free;
    for (let i = 0; i < matched; i++) if (pins[findBlock(table, hashes[i] ?? 0)] === 0) free -= 1;
    return free;
  };

  return {
    totalBlocks,
    usedBlocks: () => totalBlocks - memory.free,
    matchedBlocks: (hashes, limit) => {
      let matched = 0;
      while (matched < limit && findBlock(table, hashes[matched] ?? 0) !== -1) matched += 1;
      return matched;
    },
    pin: (hashes, matched, needed) => {
      if (needed - matched > freeBeside(hashes, matched)) return null;
      const blocks = new Int32Array(needed);
      for (let i = 0; i < matched; i++) {
        blocks[i] = findBlock(table, hashes[i] ?? 0);
        pinMatched(blocks[i] ?? 0);
      }
      for (let i = matched; i < needed; i++) blocks[i] = pinNew();
      return blocks;
    },
    name: (blocks, hashes, from, to) => {
      for (let i = from; i < to; i++) {
        const hash = hashes[i] ?? 0;
        if (hash !== 0 && findBlock(table, hash) === -1) nameBlock(table, hash, blocks[i] ?? 0);
      }
    },
    release: (blocks) => {
      for (let i = blocks.length - 1; i >= 0; i--) {
        const block = blocks[i] ?? 0;
        pins[block] = (pins[block] ?? 0) - 1;
        if (pins[block] === 0) append(memory, block);
      }
    },
    forget: () => {
      table.slots.fill(0);
      table.hashes.fill(0);
    },
    fork: () =>
      cacheIn({
        table: copyBlockTable(table),
        pins: pins.slice(),
        next: memory.next.slice(),
        previous: memory.previous.slice(),
        free: memory.free,
      }),
  };
};

const unlink = (memory: Memory, block: number): void => {
  const after = memory.next[block] ?? 0;
  const before = memory.previous[block] ?? 0;
  memory.next[before] = after;
  memory.previous[after] = before;
  memory.free -= 1;
};

const append = (memory: Memory, block: number): void => {
  const ring = memory.pins.length;
  const last = memory.previous[ring] ?? 0;
  memory.next[last] = block;
  memory.previous[block] = last;
  memory.next[block] = ring;
  memory.previous[ring] = block;
  memory.free += 1;
};
