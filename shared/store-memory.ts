/** The store inside one process: for one GTM and its agents in the demo and in tests. Complete, atomic because synchronous, and without timers. */
import type { Clock } from "./clock.ts";
import { OperationalError } from "./errors.ts";
import type { CompareAndSet, Store, Stored } from "./store.ts";
import { createMemoryChannels } from "./store-memory-channels.ts";
import { createMemoryIndexes } from "./store-memory-indexes.ts";
import { createMemoryStreams } from "./store-memory-streams.ts";

type Entry = { readonly value: string; readonly expiresAtMs: number };

/** Every write looks at this many entries for expired ones, so a full round takes a fraction of the writes that made the entries. */
const SWEPT_PER_WRITE = 8;

/**
 * @param clock its monotonic time decides what has expired
 * @param onSubscriberFault hears what a subscriber threw: a bug, which must not reach whoever announced; a Node warning where absent
 */
export const createMemoryStore = (clock: Clock, onSubscriberFault: (fault: unknown) => void = warnOfFault): Store => {
  const entries = new Map<string, Entry>();
  const indexes = createMemoryIndexes();
  const streams = createMemoryStreams(clock);
  const channels = createMemoryChannels(onSubscriberFault);
  let cursor = entries.entries();
  let isOpen = true;

  const requireOpen = (): void => {
    if (!isOpen) throw new OperationalError("GTM_STORE_UNREACHABLE", "the memory store has been closed");
  };
  const isExpired = (entry: Entry): boolean => entry.expiresAtMs <= clock.monotonicMs();
  const find = (key: string): Entry | null => {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    if (!isExpired(entry)) return entry;
    entries.delete(key);
    return null;
  };
  const read = (key: string): Stored | null => {
    const entry = find(key);
    if (entry === null) return null;
    const remainingMs = entry.expiresAtMs === Number.POSITIVE_INFINITY ? null : entry.expiresAtMs - clock.monotonicMs();
    return { value: entry.value, remainingMs };
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
  const write = (key: string, value: string, ttlMs: number | null): void => {
    if (ttlMs !== null && !(ttlMs > 0)) throw new RangeError(`ttlMs must be above 0 or null, got ${ttlMs}`);
    entries.set(key, {
      value,
      expiresAtMs: ttlMs === null ? Number.POSITIVE_INFINITY : clock.monotonicMs() + ttlMs,
    });
    sweep();
  };

  return {
    get: async (key) => {
      requireOpen();
      return read(key);
    },
    getMany: async (keys) => {
      requireOpen();
      return keys.map(read);
    },
    put: async (key, value, ttlMs) => {
      requireOpen();
      write(key, value, ttlMs);
    },
    setIfAbsent: async (key, value, ttlMs) => {
      requireOpen();
      if (find(key) !== null) return false;
      write(key, value, ttlMs);
      return true;
    },
    compareAndSet: async (key, expectedRev, value, ttlMs): Promise<CompareAndSet> => {
      requireOpen();
      const standing = find(key)?.value ?? null;
      if (revOf(standing) !== expectedRev) return { kind: "conflict", value: standing };
      write(key, value, ttlMs);
      return { kind: "stored", rev: expectedRev + 1 };
    },
    remove: async (key) => {
      requireOpen();
      entries.delete(key);
      indexes.drop(key);
      streams.drop(key);
    },
    indexAdd: async (key, member, score) => {
      requireOpen();
      indexes.add(key, member, score);
    },
    indexRemove: async (key, member) => {
      requireOpen();
      indexes.remove(key, member);
    },
    indexRange: async (key, min, max) => {
      requireOpen();
      return indexes.range(key, min, max);
    },
    append: async (key, value, cap) => {
      requireOpen();
      return streams.append(key, value, cap);
    },
    newest: async (key, count) => {
      requireOpen();
      return streams.newest(key, count);
    },
    announce: async (channel, message) => {
      requireOpen();
      channels.announce(channel, message);
    },
    subscribe: async (channel, onMessage) => {
      requireOpen();
      return channels.subscribe(channel, onMessage);
    },
    isUp: () => isOpen,
    close: async () => {
      isOpen = false;
      entries.clear();
      indexes.clear();
      streams.clear();
      channels.clear();
    },
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

const warnOfFault = (fault: unknown): void =>
  process.emitWarning(fault instanceof Error ? fault : new Error(String(fault)));
