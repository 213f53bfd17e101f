/** Sorted sets of the memory store: members by score, as Redis orders them. */
import type { IndexEntry } from "./store.ts";
import { createMemoryIndex, type MemoryIndex } from "./store-memory-index.ts";

export type MemoryIndexes = {
  readonly add: (key: string, member: string, score: number) => void;
  readonly remove: (key: string, member: string) => void;
  readonly range: (key: string, min: number, max: number, limit?: number) => readonly IndexEntry[];
  readonly top: (key: string, max: number, limit: number) => readonly IndexEntry[];
  readonly trim: (key: string, most: number) => void;
  readonly drop: (key: string) => void;
  readonly clear: () => void;
};

export const createMemoryIndexes = (): MemoryIndexes => {
  const indexes = new Map<string, MemoryIndex>();
  return {
    add: (key, member, score) => {
      if (Number.isNaN(score)) throw new RangeError("a score must be a number, got NaN");
      const index = indexes.get(key) ?? createMemoryIndex();
      indexes.set(key, index);
      index.add(member, score);
    },
    remove: (key, member) => {
      const index = indexes.get(key);
      index?.remove(member);
      if (index?.size() === 0) indexes.delete(key);
    },
    range: (key, min, max, limit = Number.POSITIVE_INFINITY) => indexes.get(key)?.range(min, max, limit) ?? [],
    top: (key, max, limit) => indexes.get(key)?.top(max, limit) ?? [],
    trim: (key, most) => {
      const index = indexes.get(key);
      if (index === undefined) return;
      const lowest = index.range(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Math.max(0, index.size() - most));
      for (const { member } of lowest) index.remove(member);
      if (index.size() === 0) indexes.delete(key);
    },
    drop: (key) => {
      indexes.delete(key);
    },
    clear: () => indexes.clear(),
  };
};
