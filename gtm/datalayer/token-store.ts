/** The admin API's tokens in the store: kept in memory, changed by compare-and-set, heard by every GTM, put back where lost. */
import { isDeepStrictEqual } from "node:util";
import { announceChange, subscribeToChanges } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { tokensKey } from "#shared/keys.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { MOST_TOKENS, type TokenRecord, TokensRecord } from "#shared/token-record.ts";
import type { Degradations } from "./degradations.ts";
import { jsonOrNull } from "./json-or-null.ts";
import type { StoreFailures } from "./store-failures.ts";
import { createTokenUses } from "./token-uses.ts";
import { NO_TOKENS, reconciledTokens, withToken } from "./tokens.ts";

export type TokenStore = Part & {
  /** As this instance knows them, those revoked or expired of late included; the same array until they change. */
  readonly current: () => readonly TokenRecord[];
  /** How long ago they were read; null: never. */
  readonly readAgoMs: () => number | null;
  /** @returns false: there are as many as there may be. @throws {OperationalError} the store would not, or is away */
  readonly add: (token: TokenRecord) => Promise<boolean>;
  /**
   * @param seenAtMs `changedAtMs` as the caller saw it; null: whatever it is
   * @returns null: there is none of that id, or it is revoked or over, or was changed since. @throws {OperationalError} as `add`
   */
  readonly change: (id: string, change: Partial<TokenRecord>, seenAtMs: number | null) => Promise<TokenRecord | null>;
  /** Somebody was let in by it: at most one write a minute. Never waits, never throws. */
  readonly used: (id: string) => void;
  /** Epoch ms, to the minute, by whichever GTM; those without an entry were not used as long as anybody remembers. */
  readonly lastUsed: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
};

type TokenStoreOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
};

/** What a lost announcement costs at most. */
const READ_EVERY_MS = 1_000;
/** People do not hand out tokens often enough to lose this many races. */
const MOST_ATTEMPTS = 8;

export const createTokenStore = (options: TokenStoreOptions): TokenStore => {
  const { store, clock, log, failures } = options;
  const key = tokensKey();
  const uses = createTokenUses({ store, clock, failures });
  let known: TokensRecord = NO_TOKENS;
  let readAtMs: number | null = null;
  let unsubscribe: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reading: Promise<void> | null = null;

  const nowMs = (): number => Math.floor(clock.epochMs());
  /** What was read may be older than what was written here meanwhile. */
  const adopt = (found: TokensRecord): void => {
    const next = reconciledTokens(known, found, nowMs());
    if (!isDeepStrictEqual(next.tokens, known.tokens)) known = next;
    else known = { ...known, rev: next.rev };
  };
  const found = async (): Promise<TokensRecord | null> => {
    const stored = await store.get(key);
    if (stored === null) return null;
    const parsed = TokensRecord.safeParse(jsonOrNull(stored.value));
    if (parsed.success) return parsed.data;
    const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
    throw new OperationalError("GTM_RECORD_REFUSED", `${key}: ${faults.slice(0, 5).join("; ")}`);
  };
  const write = async (base: TokensRecord, next: TokensRecord): Promise<boolean> =>
    (await store.compareAndSet(key, base.rev, JSON.stringify(next), null)).kind === "stored";

  /** Reads, and brings to the store what it lacks. */
  const sync = async (): Promise<void> => {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const there = (await found()) ?? NO_TOKENS;
      const wanted = reconciledTokens(known, there, nowMs());
      const next = { ...wanted, rev: wanted === there ? there.rev : there.rev + 1 };
      if (wanted !== there) {
        if (!(await write(there, next))) continue;
        log.warn("tokens.restored", { tokens: next.tokens.length });
        await announce(next.rev);
      }
      adopt(next);
      readAtMs = clock.monotonicMs();
      return;
    }
    throw contended();
  };
  const announce = (rev: number): Promise<void> =>
    announceChange(store, key, rev).catch((cause) => failures("tokens.announce", cause));
  /** @param make returns null: it is not possible */
  const change = async (make: (record: TokensRecord) => TokensRecord | null): Promise<TokensRecord | null> => {
    try {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        const there = (await found()) ?? NO_TOKENS;
        const next = make(reconciledTokens(known, there, nowMs()));
        if (next === null) return null;
        const written = { ...next, rev: there.rev + 1 };
        if (!(await write(there, written))) continue;
        adopt(written);
        readAtMs = clock.monotonicMs();
        await announce(written.rev);
        return written;
      }
      throw contended();
    } catch (cause) {
      failures("tokens.write", cause);
      throw cause;
    }
  };
  const listen = async (): Promise<void> => {
    try {
      unsubscribe ??= await subscribeToChanges(store, (changed) => {
        if (changed.key === key && changed.rev !== known.rev) void read();
      });
    } catch (cause) {
      failures("tokens.subscribe", cause);
    }
  };
  const readOnce = async (): Promise<void> => {
    try {
      await Promise.all([listen(), sync()]);
      options.degradations.set("tokens", null);
    } catch (cause) {
      failures("tokens.read", cause);
      // That the store is away is told by others; that it works but for this is told here.
      if (cause instanceof OperationalError && cause.code === "GTM_STORE_UNREACHABLE") return;
      options.degradations.set("tokens", `tokens cannot be read or written, the known ones go on: ${String(cause)}`);
    }
  };
  const read = (): Promise<void> => {
    reading ??= readOnce().finally(() => {
      reading = null;
    });
    return reading;
  };

  return {
    name: "tokens",
    current: () => known.tokens,
    readAgoMs: () => (readAtMs === null ? null : clock.monotonicMs() - readAtMs),
    add: async (token) => {
      const done = await change((record) => {
        const live = record.tokens.filter(({ expiresAtMs }) => expiresAtMs > nowMs());
        return live.length >= MOST_TOKENS ? null : withToken(record, token, nowMs());
      });
      return done !== null;
    },
    change: async (id, changed, seenAtMs) => {
      const done = await change((record) => {
        const before = record.tokens.find((one) => one.id === id);
        const isOver = before === undefined || before.revokedAtMs !== null || before.expiresAtMs <= nowMs();
        const isSeen = seenAtMs === null || seenAtMs === before?.changedAtMs;
        return isOver || !isSeen ? null : withToken(record, { ...before, ...changed, changedAtMs: nowMs() }, nowMs());
      });
      return done?.tokens.find((one) => one.id === id) ?? null;
    },
    used: uses.used,
    lastUsed: uses.lastUsed,
    start: async () => {
      await read();
      timer = setInterval(() => void read(), READ_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      unsubscribe?.();
      unsubscribe = null;
      await reading;
    },
  };
};

const contended = (): OperationalError =>
  new OperationalError("GTM_STORE_UNREACHABLE", `tokens changed ${MOST_ATTEMPTS} times while one was written`);
