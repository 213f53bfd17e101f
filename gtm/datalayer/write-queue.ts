/** What waits to be written to the store: newest word a key, few at once, kept while the store is away, replayed with jitter. */
import type { Gauge } from "#shared/metrics.ts";

export type WriteQueue<Key, Value> = {
  /** Replaces what waits under the key. Returns at once. */
  readonly add: (key: Key, value: Value) => void;
  readonly get: (key: Key) => Value | null;
  /** Without writing it again: what waits is only brought up to date. */
  readonly replace: (key: Key, value: Value) => void;
  readonly remove: (key: Key) => void;
  /** How many wait. */
  readonly size: () => number;
  /** Resolves when nothing is left to write, or the store is away. */
  readonly drained: () => Promise<void>;
  readonly stop: () => void;
};

export type WriteQueueOptions<Key, Value> = {
  /**
   * Removes the key when it has been written; what is still there afterwards is written again.
   *
   * @throws {OperationalError} the store did not answer: everything waits then; or it refused: the key waits
   */
  readonly write: (key: Key, value: Value) => Promise<void>;
  readonly onFailed: (cause: unknown) => void;
  /** Whether the store answered and said no, which may be meant for this key alone. */
  readonly isRefusal: (cause: unknown) => boolean;
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
/** So many refusals without a success between them are meant for everybody: a store that is full, or whose rules changed. */
const REFUSES_ALL_AFTER = 8;

export const createWriteQueue = <Key, Value>(options: WriteQueueOptions<Key, Value>): WriteQueue<Key, Value> => {
  /** Longest waiting first. */
  const waiting = new Map<Key, Value>();
  const writing = new Map<Key, Promise<void>>();
  /** Refused lately: they wait for the next try while others are written. */
  const resting = new Set<Key>();
  let refusals = 0;
  let isPaused = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | null = null;

  const failed = (key: Key, cause: unknown): void => {
    options.onFailed(cause);
    resting.add(key);
    const isRefused = options.isRefusal(cause);
    if (isRefused) refusals++;
    if (!isRefused || refusals >= REFUSES_ALL_AFTER) isPaused = true;
    tryLater();
  };
  const start = (key: Key, value: Value): void => {
    const run = options
      .write(key, value)
      .then(
        () => {
          refusals = 0;
        },
        (cause) => failed(key, cause),
      )
      .finally(() => {
        writing.delete(key);
        options.size.set(waiting.size);
        pump();
      });
    writing.set(key, run);
  };
  const pump = (): void => {
    if (isPaused) return;
    for (const [key, value] of waiting) {
      if (writing.size >= MOST_AT_ONCE) return;
      if (!writing.has(key) && !resting.has(key)) start(key, value);
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
      resting.clear();
      refusals = 0;
      isPaused = false;
      pump();
    };
    retry = setTimeout(later, RETRY_AFTER_MS + options.random() * RETRY_JITTER_MS);
    retry.unref();
  };

  return {
    add: (key, value) => {
      waiting.delete(key);
      waiting.set(key, value);
      const [oldest] = waiting.keys();
      if (waiting.size > options.most && oldest !== undefined) {
        waiting.delete(oldest);
        options.onDropped(oldest);
      }
      options.size.set(waiting.size);
      pump();
    },
    get: (key) => waiting.get(key) ?? null,
    replace: (key, value) => {
      if (waiting.has(key)) waiting.set(key, value);
    },
    remove: (key) => {
      waiting.delete(key);
    },
    size: () => waiting.size,
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
