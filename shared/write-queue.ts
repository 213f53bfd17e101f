/** What waits to be written to the store: newest word a key, few at once, kept while the store is away, replayed with jitter. */
import type { Gauge } from "./metrics.ts";

export type WriteQueue<Key, Value> = {
  /** Replaces what waits under the key. Returns at once. */
  readonly add: (key: Key, value: Value) => void;
  readonly get: (key: Key) => Value | null;
  /** Without writing it again: what waits is only brought up to date. */
  readonly replace: (key: Key, value: Value) => void;
  readonly remove: (key: Key) => void;
  /** How many wait. */
  readonly size: () => number;
  /** How many of them the store did not take when it was tried. */
  readonly failed: () => number;
  /** Resolves when nothing is left to write, or the store is away. */
  readonly drained: () => Promise<void>;
  readonly stop: () => void;
};

export type WriteQueueOptions<Key, Value> = {
  /**
   * Removes the key when it has been written; what is still there afterwards is written again.
   *
   * @throws {OperationalError} the store did not answer, or refused: the key waits, and everything does while the store is away
   */
  readonly write: (key: Key, value: Value) => Promise<void>;
  readonly onFailed: (cause: unknown) => void;
  /** One write was done, and `failed` says what is left of those that were not. */
  readonly onWritten: () => void;
  /** Too many wait: this key, the one that waited longest, is forgotten. */
  readonly onDropped: (key: Key) => void;
  readonly isUp: () => boolean;
  /** 0 to 1. */
  readonly random: () => number;
  readonly size: Gauge;
  readonly most: number;
};

const MOST_AT_ONCE = 32;
/** A store that comes back is not met by all GTMs in the same moment. */
const RETRY_AFTER_MS = 500;
const RETRY_JITTER_MS = 1_500;
/** One failure may be this key's alone, in a Cluster that lost its slot; so many without a success between them are everybody's. */
const FAILS_ALL_AFTER = 8;

export const createWriteQueue = <Key, Value>(options: WriteQueueOptions<Key, Value>): WriteQueue<Key, Value> => {
  /** Longest waiting first. */
  const waiting = new Map<Key, Value>();
  const writing = new Map<Key, Promise<void>>();
  /** Of those that wait, the ones to write next. */
  const ready = new Set<Key>();
  /** Of those that wait, the ones that were tried in vain; they rest until all of them are tried again. */
  const failed = new Set<Key>();
  const resting = new Set<Key>();
  let failuresInRow = 0;
  let isPaused = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | null = null;

  const settle = (key: Key): void => {
    writing.delete(key);
    if (waiting.has(key) && !resting.has(key)) ready.add(key);
    options.size.set(waiting.size);
    pump();
  };
  const fail = (key: Key, cause: unknown): void => {
    if (waiting.has(key)) {
      failed.add(key);
      resting.add(key);
    }
    failuresInRow++;
    if (!options.isUp() || failuresInRow >= FAILS_ALL_AFTER) isPaused = true;
    options.onFailed(cause);
    tryLater();
  };
  const start = (key: Key, value: Value): void => {
    const run = options
      .write(key, value)
      .then(
        () => {
          failuresInRow = 0;
          failed.delete(key);
          options.onWritten();
        },
        (cause) => fail(key, cause),
      )
      .finally(() => settle(key));
    writing.set(key, run);
  };
  const pump = (): void => {
    if (isPaused) return;
    for (const key of ready) {
      if (writing.size >= MOST_AT_ONCE) return;
      ready.delete(key);
      const value = waiting.get(key);
      if (value !== undefined) start(key, value);
    }
  };
  const tryLater = (): void => {
    if (retry !== null || isStopped) return;
    const later = (): void => {
      retry = null;
      if (!options.isUp()) {
        tryLater();
        return;
      }
      for (const key of resting) if (!writing.has(key)) ready.add(key);
      resting.clear();
      failuresInRow = 0;
      isPaused = false;
      pump();
    };
    retry = setTimeout(later, RETRY_AFTER_MS + options.random() * RETRY_JITTER_MS);
    retry.unref();
  };

  const forget = (key: Key): void => {
    waiting.delete(key);
    for (const keys of [ready, failed, resting]) keys.delete(key);
  };

  return {
    add: (key, value) => {
      waiting.delete(key);
      waiting.set(key, value);
      if (!writing.has(key) && !resting.has(key)) ready.add(key);
      const [oldest] = waiting.keys();
      if (waiting.size > options.most && oldest !== undefined) {
        forget(oldest);
        options.onDropped(oldest);
      }
      options.size.set(waiting.size);
      pump();
    },
    get: (key) => waiting.get(key) ?? null,
    replace: (key, value) => {
      if (waiting.has(key)) waiting.set(key, value);
    },
    remove: forget,
    size: () => waiting.size,
    failed: () => failed.size,
    drained: async () => {
      while (writing.size > 0) await Promise.all(writing.values());
    },
    stop: () => {
      if (retry !== null) clearTimeout(retry);
      retry = null;
      isStopped = true;
    },
  };
};
