/** `_acme-challenge` TXT values: presented and taken back at run time, answered by every GTM, and gone after a while. */

import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { acmeKey } from "#shared/keys.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createAcmeKnown } from "./acme-known.ts";
import { createAcmeStore, MOST_ACME_NAMES } from "./acme-store.ts";
import { createAcmeSync } from "./acme-sync.ts";
import { type AcmeChoice, type AcmeEntry, LONGEST_ACME_MS, withEntry, withoutEntries } from "./acme-values.ts";
import type { Degradations } from "./degradations.ts";
import type { StoreFailures } from "./store-failures.ts";

export type PresentWish = {
  /** Lower case, without the trailing dot. */
  readonly name: string;
  readonly value: string;
  readonly actor: string;
  /** At most an hour. */
  readonly forMs: number;
};
export type Presented =
  | { readonly kind: "presented" }
  /** No challenge can be answered there. */
  | { readonly kind: "not-ours" }
  /** The name, or the zone, has as many as it may. */
  | { readonly kind: "full"; readonly of: "name" | "zone" };

export type Cleaned =
  /** @see AcmeChoice: 0 also where there was nothing. `others`: how many such values others presented, who keep them. */
  { readonly kind: "cleaned"; readonly values: number; readonly others: number } | { readonly kind: "not-ours" };

export type AcmeListed = {
  readonly name: string;
  readonly values: readonly { readonly value: string; readonly actor: string; readonly expiresInMs: number }[];
};

export type AcmeChallenges = Part & {
  /** The same array until it changes; null: none. Never waits. */
  readonly texts: (name: string) => readonly string[] | null;
  /** Calls the listener with what a name has from now on, for every name that has something or had. */
  readonly watch: (listener: (name: string, entries: readonly AcmeEntry[]) => void) => void;
  /** By name. */
  readonly list: () => readonly AcmeListed[];
  /**
   * @throws {OperationalError} GTM_STORE_UNREACHABLE, GTM_STORE_REFUSED, GTM_RECORD_REFUSED: a challenge must reach every GTM,
   * so none is taken while it cannot be written
   * @param isDryRun the outcome by what this instance knows; nothing is written
   */
  readonly present: (wish: PresentWish, isDryRun?: boolean) => Promise<Presented>;
  /** @throws {OperationalError} as `present` */
  readonly cleanup: (name: string, choice: AcmeChoice, isDryRun?: boolean) => Promise<Cleaned>;
};

export type AcmeOptions = {
  readonly store: Store;
  /** Those that challenges can be answered at; read anew each time. */
  readonly names: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
};

/** What a lost announcement costs at most. */
const READ_EVERY_MS = 1_000;

export const createAcmeChallenges = (options: AcmeOptions): AcmeChallenges => {
  const { store, clock, log, failures } = options;
  const listeners: ((name: string, entries: readonly AcmeEntry[]) => void)[] = [];
  const known = createAcmeKnown(clock, (name, entries) => {
    for (const listener of listeners) listener(name, entries);
  });
  const persisted = createAcmeStore(store, clock);
  const sync = createAcmeSync({
    ...{ store, clock, log, failures, degradations: options.degradations, persisted, known },
    get names() {
      return options.names;
    },
  });
  const gauge = options.metrics.gauge({
    name: "gtm_acme_challenges",
    help: "Values of _acme-challenge names that are answered now.",
  });
  let timer: NodeJS.Timeout | null = null;

  const readAll = async (): Promise<void> => {
    await sync.readAll();
    gauge.set(known.names().reduce((sum, name) => sum + known.entries(name).length, 0));
  };
  /** @returns false: it was not possible */
  const change = async (
    name: string,
    isDryRun: boolean,
    make: (entries: readonly AcmeEntry[]) => readonly AcmeEntry[] | null,
  ): Promise<boolean> => {
    if (isDryRun) return make(known.entries(name)) !== null;
    try {
      const found = await persisted.change(name, known.entries(name), make);
      if (found === null) return false;
      sync.wrote(name);
      known.adopt(name, found.entries);
      // It stands, and whoever does not hear of it now reads it within a second.
      await announceChange(store, acmeKey(name), found.rev).catch((cause) => failures("acme.announce", cause));
      return true;
    } catch (cause) {
      failures("acme.write", cause);
      throw cause;
    }
  };

  return {
    name: "acme-challenges",
    texts: known.texts,
    watch: (listener) => {
      listeners.push(listener);
    },
    list: () => {
      const nowMs = clock.monotonicMs();
      return known.names().map((name) => ({
        name,
        values: known.entries(name).map(({ value, actor, untilMs }) => ({
          ...{ value, actor },
          expiresInMs: Math.round(untilMs - nowMs),
        })),
      }));
    },
    present: async ({ name, value, actor, forMs }, isDryRun = false) => {
      if (!options.names.has(name)) return { kind: "not-ours" };
      if (known.texts(name) === null && known.names().length >= MOST_ACME_NAMES) return { kind: "full", of: "zone" };
      // Listed first: a name on the list without values does no harm, values that are not on the list may be missed.
      if (!isDryRun) {
        await persisted.list(name).catch((cause) => {
          failures("acme.write", cause);
          throw cause;
        });
      }
      const untilMs = clock.monotonicMs() + Math.min(forMs, LONGEST_ACME_MS);
      const isDone = await change(name, isDryRun, (entries) => withEntry(entries, { value, actor, untilMs }));
      if (!isDone) return { kind: "full", of: "name" };
      if (!isDryRun) log.info("acme.presented", { name, actor, forMs });
      return { kind: "presented" };
    },
    cleanup: async (name, choice, isDryRun = false) => {
      if (!options.names.has(name)) return { kind: "not-ours" };
      let values = 0;
      let others = 0;
      await change(name, isDryRun, (entries) => {
        const rest = withoutEntries(entries, choice);
        values = entries.length - rest.length;
        others = rest.length - withoutEntries(rest, { ...choice, actor: null }).length;
        return rest;
      });
      if (values > 0 && !isDryRun) log.info("acme.cleaned", { name, presentedBy: choice.actor, values });
      return { kind: "cleaned", values, others };
    },
    start: async () => {
      await readAll();
      timer = setInterval(() => void readAll(), READ_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      await sync.stop();
    },
  };
};
