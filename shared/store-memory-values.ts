/** Values of the memory store, each with its time to live. */
import type { Clock } from "./clock.ts";
import type { CompareAndSet, Stored } from "./store.ts";

export type MemoryValues = {
  readonly get: (key: string) => Stored | null;
  readonly put: (key: string, value: string, ttlMs: number | null) => void;
  readonly setIfAbsent: (key: string, value: string, ttlMs: number | null) => boolean;
  readonly compareAndSet: (key: string, expectedRev: number, value: string, ttlMs: number | null) => CompareAndSet;
  readonly drop: (key: string) => void;
  readonly clear: () => void;
  /** Values in memory, some of which may have expired. */
  readonly count: () => number;
};

type Entry = { readonly value: string; readonly expiresAtMs: number };

/** Every write looks at so many values for expired ones: a full round takes an eighth of the writes that made them. */
const SWEPT_PER_WRITE = 8;

/** Swept by those who write, so that it needs no timer and stops growing when it has as many values as live at once. */
export const createMemoryValues = (clock: Clock): MemoryValues => {
  const entries = new Map<string, Entry>();
  let cursor = entries.entries();

  const isExpired = (entry: Entry): boolean => entry.expiresAtMs <= clock.monotonicMs();
  const find = (key: string): Entry | null => {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    if (!isExpired(entry)) return entry;
    entries.delete(key);
    return null;
  };
  const sweep = (): void => {
    for (let i = 0; i < SWEPT_PER_WRITE; i++) {
      const { value, done } = cursor.next();
      if (done) {
        cursor = entries.entries();
        return;
      }
      if (isExpired(value[1])) entries.delete(value[0]);
    }
  };
  const put: MemoryValues["put"] = (key, value, ttlMs) => {
    if (ttlMs !== null && !(ttlMs > 0)) throw new RangeError(`ttlMs must be above 0 or null, got ${ttlMs}`);
    const expiresAtMs = ttlMs === null ? Number.POSITIVE_INFINITY : clock.monotonicMs() + ttlMs;
    entries.set(key, { value, expiresAtMs });
    sweep();
  };

  return {
    get: (key) => {
      const entry = find(key);
      if (entry === null) return null;
      const isLasting = entry.expiresAtMs === Number.POSITIVE_INFINITY;
      return { value: entry.value, remainingMs: isLasting ? null : entry.expiresAtMs - clock.monotonicMs() };
    },
    put,
    setIfAbsent: (key, value, ttlMs) => {
      if (find(key) !== null) return false;
      put(key, value, ttlMs);
      return true;
    },
    compareAndSet: (key, expectedRev, value, ttlMs) => {
      const standing = find(key)?.value ?? null;
      if (revOf(standing) !== expectedRev) return { kind: "conflict", value: standing };
      put(key, value, ttlMs);
      return { kind: "stored", rev: expectedRev + 1 };
    },
    drop: (key) => {
      entries.delete(key);
    },
    clear: () => entries.clear(),
    count: () => entries.size,
  };
};

/** 0: nothing there. −1: something without a rev, which nobody can expect. */
const revOf = (value: string | null): number => {
  if (value === null) return 0;
  try {
    const parsed: unknown = JSON.parse(value);
    const rev = typeof parsed === "object" && parsed !== null && "rev" in parsed ? parsed.rev : null;
    return typeof rev === "number" && Number.isInteger(rev) && rev > 0 ? rev : -1;
  } catch {
    return -1;
  }
};
