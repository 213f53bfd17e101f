/** Sorted sets of the memory store: members by score, as Redis orders them. */
import type { IndexEntry } from "./store.ts";

export type MemoryIndexes = {
  readonly add: (key: string, member: string, score: number) => void;
  readonly remove: (key: string, member: string) => void;
  readonly range: (key: string, min: number, max: number, limit?: number) => readonly IndexEntry[];
  readonly top: (key: string, max: number, limit: number) => readonly IndexEntry[];
  readonly drop: (key: string) => void;
  readonly clear: () => void;
};

export const createMemoryIndexes = (): MemoryIndexes => {
  const indexes = new Map<string, Map<string, number>>();
  const range = (key: string, min: number, max: number): readonly IndexEntry[] => {
    const found: IndexEntry[] = [];
    for (const [member, score] of indexes.get(key) ?? []) {
      if (score >= min && score <= max) found.push({ member, score });
    }
    return found.sort((a, b) => a.score - b.score || byOctets(a.member, b.member));
  };
  return {
    add: (key, member, score) => {
      if (Number.isNaN(score)) throw new RangeError("a score must be a number, got NaN");
      const index = indexes.get(key) ?? new Map<string, number>();
      indexes.set(key, index.set(member, score));
    },
    remove: (key, member) => {
      const index = indexes.get(key);
      if (index?.delete(member) === true && index.size === 0) indexes.delete(key);
    },
    range: (key, min, max, limit = Number.POSITIVE_INFINITY) => range(key, min, max).slice(0, limit),
    top: (key, max, limit) => range(key, Number.NEGATIVE_INFINITY, max).toReversed().slice(0, limit),
    drop: (key) => {
      indexes.delete(key);
    },
    clear: () => indexes.clear(),
  };
};

/** Redis compares equal scores' members as octets, which differs from JavaScript's order beyond U+FFFF. */
const byOctets = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
