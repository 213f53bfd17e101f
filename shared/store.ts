/**
 * The store between agents and GTMs, as small as it can be. Every operation touches one key, so that Redis Cluster works.
 * `memory:` (shared/store-memory.ts) serves one process; Redis serves many. Both pass test/conformance/store.ts.
 */

/** Remaining time to live in milliseconds, by the store's own clock; null for a key that never expires. */
export type Stored = { readonly value: string; readonly remainingMs: number | null };

export type CompareAndSet =
  | { readonly kind: "stored"; readonly rev: number }
  /** Somebody else was faster; `value` is what stands there now (null: nothing). */
  | { readonly kind: "conflict"; readonly value: string | null };

export type IndexEntry = { readonly member: string; readonly score: number };
export type StreamEntry = { readonly id: string; readonly value: string };

/**
 * Every call rejects with `OperationalError`: GTM_STORE_UNREACHABLE when the store does not answer within its deadline (what was
 * asked may have been done all the same), GTM_STORE_REFUSED when it answers that it will not.
 * Values are strings; a value that takes part in compare-and-set is a JSON object with an integer `rev`.
 */
export type Store = {
  readonly get: (key: string) => Promise<Stored | null>;
  /** As many gets, in the order asked; by few commands where one server has them all. */
  readonly getMany: (keys: readonly string[]) => Promise<readonly (Stored | null)[]>;
  /** @param ttlMs null: never expires */
  readonly put: (key: string, value: string, ttlMs: number | null) => Promise<void>;
  /** @returns whether the key was free and now holds the value */
  readonly setIfAbsent: (key: string, value: string, ttlMs: number | null) => Promise<boolean>;
  /**
   * Replaces the value if its `rev` is `expectedRev` (0: the key must be free). `value` carries the new rev, `expectedRev + 1`.
   * Atomic: one Lua script on one key in Redis.
   */
  readonly compareAndSet: (
    key: string,
    expectedRev: number,
    value: string,
    ttlMs: number | null,
  ) => Promise<CompareAndSet>;
  readonly remove: (key: string) => Promise<void>;
  readonly indexAdd: (key: string, member: string, score: number) => Promise<void>;
  readonly indexRemove: (key: string, member: string) => Promise<void>;
  /** Members with `min` ≤ score ≤ `max`, lowest score first; at most `limit`, all without one. */
  readonly indexRange: (key: string, min: number, max: number, limit?: number) => Promise<readonly IndexEntry[]>;
  /** At most `limit` members with score ≤ `max`, highest score first: a page of a long index. */
  readonly indexTop: (key: string, max: number, limit: number) => Promise<readonly IndexEntry[]>;
  /** Keeps the `most` members with the highest scores. @param most 0 or more */
  readonly indexTrim: (key: string, most: number) => Promise<void>;
  /** Appends to a stream that keeps about the newest `cap` entries. @returns the entry's id */
  readonly append: (key: string, value: string, cap: number) => Promise<string>;
  /** The newest `count` entries, newest first. */
  readonly newest: (key: string, count: number) => Promise<readonly StreamEntry[]>;
  readonly announce: (channel: string, message: string) => Promise<void>;
  /** @returns a function that ends the subscription */
  readonly subscribe: (channel: string, onMessage: (message: string) => void) => Promise<() => void>;
  /** Whether the store answers; used by readiness, never on the hot path. */
  readonly isUp: () => boolean;
  readonly close: () => Promise<void>;
};
