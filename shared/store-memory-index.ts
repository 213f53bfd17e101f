/** One sorted set of the memory store: in blocks of bounded length, so that an index of 100 000 is written and paged in microseconds. */
import type { IndexEntry } from "./store.ts";

export type MemoryIndex = {
  readonly add: (member: string, score: number) => void;
  readonly remove: (member: string) => void;
  /** `min` ≤ score ≤ `max`, lowest first. */
  readonly range: (min: number, max: number, limit: number) => readonly IndexEntry[];
  /** score ≤ `max`, highest first. */
  readonly top: (max: number, limit: number) => readonly IndexEntry[];
  readonly size: () => number;
};

/** A longer block is halved: moving as many entries for one that comes or goes is cheap, and few blocks are searched. */
const MOST_IN_BLOCK = 512;

export const createMemoryIndex = (): MemoryIndex => {
  const scores = new Map<string, number>();
  /** Ascending within and among them; none is empty. */
  const blocks: IndexEntry[][] = [];

  /** The block that an entry stands in, or would. */
  const blockOf = (entry: IndexEntry): number =>
    Math.max(0, firstWhere(blocks, ([first]) => first !== undefined && compare(first, entry) > 0) - 1);
  const insert = (entry: IndexEntry): void => {
    const at = blockOf(entry);
    const block = blocks[at];
    if (block === undefined) {
      blocks.push([entry]);
      return;
    }
    block.splice(
      firstWhere(block, (one) => compare(one, entry) > 0),
      0,
      entry,
    );
    if (block.length > MOST_IN_BLOCK) blocks.splice(at + 1, 0, block.splice(MOST_IN_BLOCK / 2));
  };
  const remove = (member: string): void => {
    const score = scores.get(member);
    if (score === undefined) return;
    scores.delete(member);
    const entry = { member, score };
    const at = blockOf(entry);
    const block = blocks[at] ?? [];
    block.splice(
      firstWhere(block, (one) => compare(one, entry) >= 0),
      1,
    );
    if (block.length === 0) blocks.splice(at, 1);
  };

  return {
    add: (member, score) => {
      remove(member);
      scores.set(member, score);
      insert({ member, score });
    },
    remove,
    range: (min, max, limit) => {
      const found: IndexEntry[] = [];
      const first = firstWhere(blocks, (block) => (block.at(-1)?.score ?? 0) >= min);
      for (let at = first; at < blocks.length; at++) {
        const block = blocks[at] ?? [];
        for (let i = at === first ? firstWhere(block, ({ score }) => score >= min) : 0; i < block.length; i++) {
          const entry = block[i];
          if (entry === undefined || entry.score > max || found.length >= limit) return found;
          found.push(entry);
        }
      }
      return found;
    },
    top: (max, limit) => {
      const found: IndexEntry[] = [];
      const last = firstWhere(blocks, ([first]) => first !== undefined && first.score > max) - 1;
      for (let at = last; at >= 0; at--) {
        const block = blocks[at] ?? [];
        for (let i = (at === last ? firstWhere(block, ({ score }) => score > max) : block.length) - 1; i >= 0; i--) {
          const entry = block[i];
          if (entry === undefined || found.length >= limit) return found;
          found.push(entry);
        }
      }
      return found;
    },
    size: () => scores.size,
  };
};

/** Position of the first for which it holds, where it holds for all that follow; the length: for none. */
const firstWhere = <T>(sorted: readonly T[], holds: (one: T) => boolean): number => {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(sorted[middle] as T)) to = middle;
    else from = middle + 1;
  }
  return from;
};

const compare = (a: IndexEntry, b: IndexEntry): number => {
  if (a.score !== b.score) return a.score < b.score ? -1 : 1;
  // Redis compares equal scores' members as octets, which differs from JavaScript's order beyond U+FFFF.
  return a.member === b.member ? 0 : Buffer.compare(Buffer.from(a.member), Buffer.from(b.member));
};
