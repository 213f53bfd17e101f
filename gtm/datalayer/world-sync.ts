/** Keeps what the world is made of in step with the store, each part by itself: one that fails leaves the others alone. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import type { Degradations } from "./degradations.ts";
import type { Reports } from "./reports.ts";
import type { Sent } from "./sent.ts";
import type { StoreFailures } from "./store-failures.ts";

export type WorldSync = {
  /** Whether the store does anything of what was asked last; nothing is known against it before it was asked. */
  readonly isStoreUp: () => boolean;
  /** From here on it counts as away until it was reached: what is known is an earlier process's. */
  readonly doubt: () => void;
  /** Asked twice at once, it is one. */
  readonly sync: () => Promise<void>;
  /** Resolves when none is running. */
  readonly settled: () => Promise<void>;
};

export type WorldSyncOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
  readonly reports: Pick<Reports, "resync">;
  readonly sent: Pick<Sent, "sync">;
  /** Whether what decisions rest on was saved by an earlier process; null: no. */
  readonly savedAgeMs: () => number | null;
  readonly onChanged: () => void;
};

/** What a lost announcement costs at most. */
const RESYNC_EVERY_MS = 2_000;

export const createWorldSync = (options: WorldSyncOptions): WorldSync => {
  const { store, clock, log, reports, sent, degradations, failures } = options;
  let isReached = true;
  let areReportsAnswered = true;
  let resyncedAtMs = Number.NEGATIVE_INFINITY;
  let syncing: Promise<void> | null = null;
  let isSentWritten = true;

  /** @returns whether the store answered, be it with a refusal */
  const syncSent = async (): Promise<boolean> => {
    try {
      await sent.sync();
      degradations.set("sent", null);
      // Where nothing is decided nobody else would say so; the next decision that is not copied says it again.
      if (!isSentWritten) degradations.set("decisions", null);
      isSentWritten = true;
      return true;
    } catch (cause) {
      failures("sent.sync", cause);
      isSentWritten = false;
      degradations.set("sent", `GTMs do not know of each other's turns: ${String(cause)}`);
      return cause instanceof OperationalError && cause.code === "GTM_STORE_REFUSED";
    }
  };
  const syncReports = async (): Promise<void> => {
    const { isAnswered, fault, cause } = await reports.resync();
    areReportsAnswered = isAnswered;
    resyncedAtMs = clock.monotonicMs();
    if (fault !== null) failures("report.read", cause);
    degradations.set("reports", fault === null ? null : `${fault} (${String(cause)})`);
  };
  const isDue = (): boolean =>
    !isReached || !areReportsAnswered || clock.monotonicMs() - resyncedAtMs >= RESYNC_EVERY_MS;
  const tell = (): void => {
    const savedAgeMs = options.savedAgeMs();
    const since =
      savedAgeMs === null ? "what was known before" : `what was saved ${Math.round(savedAgeMs / 1_000)} s ago`;
    degradations.set("store", isReached ? null : `the store does not answer: decisions rest on ${since}`);
  };
  const syncOnce = async (): Promise<void> => {
    const wasReached = isReached;
    const isSentAnswered = await syncSent();
    // Where one part is unreachable, the other says whether all is.
    if (isDue() || !isSentAnswered) await syncReports();
    isReached = isSentAnswered || areReportsAnswered;
    tell();
    if (wasReached === isReached) return;
    log[isReached ? "info" : "warn"](isReached ? "store.reached" : "store.away");
    options.onChanged();
  };

  return {
    isStoreUp: () => isReached && store.isUp(),
    doubt: () => {
      isReached = false;
    },
    sync: () => {
      syncing ??= syncOnce().finally(() => {
        syncing = null;
      });
      return syncing;
    },
    settled: async () => {
      await syncing;
    },
  };
};
