/** A replica's KV memory: a fixed number of blocks; those in use are pinned, the others keep what they held until needed. */
import { copyBlockTable, createBlockTable, findBlock, nameBlock, unnameBlock } from "./block-table.ts";

/** Hashes of a sequence's full blocks, first to last; an array that grows with its conversation may be shared. */
export type BlockHashes = ArrayLike<number>;

export type PrefixCache = {
  readonly totalBlocks: number;
  /** Blocks pinned by requests; the rest is free, whatever it still holds. */
  readonly usedBlocks: () => number;
  /** How many of the first `limit` blocks of a sequence are held; whoever holds one holds those before it. */
  readonly matchedBlocks: (hashes: BlockHashes, limit: number) => number;
  /**
   * Pins the matched blocks and takes the least recently used free ones for the rest.
   *
   * @returns the sequence's blocks; null: it does not fit beside what is pinned now
   */
  readonly pin: (hashes: BlockHashes, matched: number, needed: number) => Int32Array | null;
  /** @returns the sequence's blocks with so many more, which hold nothing yet; null: they are not free */
  readonly grow: (blocks: Int32Array, more: number) => Int32Array | null;
  /**
   * Says what the blocks from `from` up to `to`, excluded, hold. Where another block holds a content already, that one
   * takes the place of this sequence's own.
   *
   * @returns the sequence's blocks from now on; those given are not changed
   */
  readonly name: (blocks: Int32Array, hashes: BlockHashes, from: number, to: number) => Int32Array;
  /** Unpins; a sequence's last blocks are the first to go, since nothing can use them without the ones before. */
  readonly release: (blocks: Int32Array) => void;
  /** Forgets what every block holds; pinned ones stay pinned. */
  readonly forget: () => void;
  /** An independent copy, at the cost of copying memory. @param spare of the same size and of no use any more: taken for it */
  readonly fork: (spare: PrefixCache | null) => PrefixCache;
  /** What `fork` writes over. */
  readonly memory: Memory;
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
  const unpin = (block: number): void => {
    pins[block] = (pins[block] ?? 0) - 1;
    if (pins[block] === 0) append(memory, block);
  };
  /** @returns the block that holds this content from now on, in place of a sequence's own if another had it already */
  const settle = (own: number, hash: number): number => {
    const other = findBlock(table, hash);
    if (other === -1) {
      nameBlock(table, hash, own);
      return own;
    }
    pinMatched(other);
    unpin(own);
    return other;
  };

  return {
    totalBlocks,
    memory,
    usedBlocks: () => totalBlocks - memory.free,
    matchedBlocks: (hashes, limit) => {
      const isHeld = (at: number): boolean => findBlock(table, hashes[at] ?? 0) !== -1;
      let held = 0;
      let missing = Math.min(limit, hashes.length) + 1;
      while (missing - held > 1) {
        const middle = (held + missing) >>> 1;
        if (isHeld(middle - 1)) held = middle;
        else missing = middle;
      }
      return held;
    },
    pin: (hashes, matched, needed) => {
      if (needed - matched > memory.free) return null;
      const blocks = new Int32Array(needed);
      let free = memory.free;
      for (let i = 0; i < matched; i++) {
        const block = findBlock(table, hashes[i] ?? 0);
        blocks[i] = block;
        if (pins[block] === 0) free -= 1;
      }
      if (needed - matched > free) return null;
      for (let i = 0; i < matched; i++) pinMatched(blocks[i] ?? 0);
      for (let i = matched; i < needed; i++) blocks[i] = pinNew();
      return blocks;
    },
    grow: (given, more) => {
      if (more > memory.free) return null;
      const blocks = new Int32Array(given.length + more);
      blocks.set(given);
      for (let i = given.length; i < blocks.length; i++) blocks[i] = pinNew();
      return blocks;
    },
    name: (given, hashes, from, to) => {
      let blocks = given;
      for (let i = from; i < Math.min(to, hashes.length, given.length); i++) {
        // After all was forgotten, what came before is not there either.
        if (i > 0 && table.hashes[blocks[i - 1] ?? 0] !== hashes[i - 1]) break;
        const own = blocks[i] ?? 0;
        const holder = settle(own, hashes[i] ?? 0);
        if (holder === own) continue;
        if (blocks === given) blocks = given.slice();
        blocks[i] = holder;
      }
      return blocks;
    },
    release: (blocks) => {
      for (let i = blocks.length - 1; i >= 0; i--) unpin(blocks[i] ?? 0);
    },
    forget: () => {
      table.slots.fill(0);
      table.hashes.fill(0);
    },
    fork: (spare) => {
      if (spare === null) return cacheIn(copyOf(memory));
      overwrite(spare.memory, memory);
      return spare;
    },
  };
};

const copyOf = ({ table, pins, next, previous, free }: Memory): Memory => ({
  table: copyBlockTable(table),
  pins: pins.slice(),
  next: next.slice(),
  previous: previous.slice(),
  free,
});

const overwrite = (spare: Memory, memory: Memory): void => {
  spare.table.slots.set(memory.table.slots);
  spare.table.hashes.set(memory.table.hashes);
  spare.pins.set(memory.pins);
  spare.next.set(memory.next);
  spare.previous.set(memory.previous);
  spare.free = memory.free;
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
