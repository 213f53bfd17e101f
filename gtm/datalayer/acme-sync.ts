/** Keeps the challenge values in memory as the store has them: heard of at once, read again each second, put back where lost. */

import { subscribeToChanges } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { acmeNameOf } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import type { AcmeKnown } from "./acme-known.ts";
import type { AcmeStore } from "./acme-store.ts";
import type { Degradations } from "./degradations.ts";
import type { StoreFailures } from "./store-failures.ts";

export type AcmeSync = {
  /** Something was written here: what is being read of the name may be older. */
  readonly wrote: (name: string) => void;
  /** Reads every name that is listed or known. */
  readonly readAll: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type AcmeSyncOptions = {
  readonly store: Store;
  readonly persisted: AcmeStore;
  readonly known: AcmeKnown;
  /** What is listed beside these is not ours. */
  readonly names: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
};

/** A name without a key for so long, by our own clock, is taken off the list: longer than it may be between the two. */
const UNLISTED_AFTER_MS = 60_000;
/** A key that is gone a little before we thought has ended: what reading it took counted as life. */
const UNCERTAIN_MS = 2_000;

export const createAcmeSync = (options: AcmeSyncOptions): AcmeSync => {
  const { store, persisted, known, clock, log, failures } = options;
  const writes = new Map<string, number>();
  const absentSinceMs = new Map<string, number>();
  const wanted = new Set<string>();
  let reading: Promise<unknown> | null = null;
  let unsubscribe: (() => void) | null = null;

  /** The store lost it (emptied, or failed over before it was copied): values that were taken back leave a key. */
  const absent = async (name: string): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const entries = known.entries(name).filter(({ untilMs }) => untilMs - nowMs > UNCERTAIN_MS);
    if (entries.length > 0) {
      await persisted.list(name);
      if (await persisted.offer(name, entries)) log.warn("acme.restored", { name });
      return;
    }
    const sinceMs = absentSinceMs.get(name) ?? nowMs;
    absentSinceMs.set(name, sinceMs);
    if (nowMs - sinceMs < UNLISTED_AFTER_MS) return;
    absentSinceMs.delete(name);
    await persisted.unlist(name);
  };
  const readOne = async (name: string): Promise<void> => {
    const before = writes.get(name);
    const found = await persisted.find(name);
    if (writes.get(name) !== before) return;
    if (found === null) return absent(name);
    absentSinceMs.delete(name);
    known.adopt(name, found.entries);
  };
  /** @returns the first fault; null: none */
  const readWanted = async (): Promise<unknown> => {
    let fault: unknown = null;
    while (wanted.size > 0) {
      const batch = [...wanted];
      wanted.clear();
      const results = await Promise.allSettled(batch.map(readOne));
      fault ??= results.find((one) => one.status === "rejected")?.reason ?? null;
    }
    if (fault !== null) failures("acme.read", fault);
    return fault;
  };
  const read = (): Promise<unknown> => {
    reading ??= readWanted().finally(() => {
      reading = null;
    });
    return reading;
  };
  const listen = async (): Promise<void> => {
    try {
      unsubscribe ??= await subscribeToChanges(store, ({ key }) => {
        const name = acmeNameOf(key);
        if (name === null || !options.names.has(name)) return;
        wanted.add(name);
        void read();
      });
    } catch (cause) {
      failures("acme.subscribe", cause);
    }
  };
  const readList = async (): Promise<{ readonly names: readonly string[]; readonly fault: unknown }> => {
    try {
      return { names: await persisted.names(), fault: null };
    } catch (fault) {
      failures("acme.read", fault);
      return { names: [], fault };
    }
  };

  return {
    wrote: (name) => {
      writes.set(name, (writes.get(name) ?? 0) + 1);
    },
    readAll: async () => {
      const [listed] = await Promise.all([readList(), listen()]);
      for (const name of [...listed.names, ...known.names()]) if (options.names.has(name)) wanted.add(name);
      const unread = await read();
      const fault = listed.fault ?? unread;
      // That the store is away is told by others; that it works but for this is told here.
      if (fault instanceof OperationalError && fault.code === "GTM_STORE_UNREACHABLE") return;
      const reason = fault === null ? null : `challenges of others are not heard: ${String(fault)}`;
      options.degradations.set("challenges", reason);
    },
    stop: async () => {
      unsubscribe?.();
      unsubscribe = null;
      await reading;
    },
  };
};
