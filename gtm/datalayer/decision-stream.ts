/** The decisions' copy in the store: written behind the answers, sampled where there are too many, given up where it cannot follow. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { InstanceId } from "#shared/ids.ts";
import { DECISIONS_CAP, decisionsKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { Degradations } from "./degradations.ts";
import { STORE_AWAY, type StoreFailures } from "./store-failures.ts";

export type DecisionStreamOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
  readonly instance: InstanceId;
  /** What is kept of an entry; JSON. Computed here, behind the answer. */
  readonly view: (entry: Entry) => object;
};

export type DecisionStream = {
  readonly add: (entry: Entry) => void;
  /** Resolves when what was added is written, or lost. */
  readonly flushed: () => Promise<void>;
};

/** Above this, one of n is kept, and each that is kept says so. */
const MOST_PER_SECOND = 1_000;
const MOST_WAITING = 2_000;

export const createDecisionStream = (options: DecisionStreamOptions): DecisionStream => {
  const { store, clock } = options;
  const key = decisionsKey(options.instance);
  const waiting: { readonly entry: Entry; readonly keptOneIn: number }[] = [];
  let second = { startedMs: clock.monotonicMs(), seen: 0, keptOneIn: 1 };
  let writing: Promise<void> | null = null;
  const lost = options.metrics.counter({
    name: "gtm_decision_stream_lost_total",
    help: "Decisions that are in memory and did not reach the store's stream: sampled out, too many at once, or the store was away.",
    labels: ["reason"],
  });

  /** The rate of the second before decides: the same for every decision of this one. */
  const keptOneIn = (): number => {
    const nowMs = clock.monotonicMs();
    const seconds = Math.floor((nowMs - second.startedMs) / 1_000);
    if (seconds > 0) {
      const rate = seconds === 1 ? second.seen : 0;
      second = {
        startedMs: second.startedMs + seconds * 1_000,
        seen: 0,
        keptOneIn: Math.max(1, Math.ceil(rate / MOST_PER_SECOND)),
      };
    }
    return second.keptOneIn;
  };
  const lose = (cause: unknown, count: number): void => {
    options.failures("decision.append", cause);
    options.degradations.set("decisions", `decisions are not copied to the store: ${String(cause)}`);
    lost.inc({ reason: "store" }, count);
  };
  const write = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const value = JSON.stringify({ ...options.view(next.entry), keptOneIn: next.keptOneIn });
      await store.append(key, value, DECISIONS_CAP);
      options.degradations.set("decisions", null);
    }
  };
  const flush = (): void => {
    writing ??= write()
      .catch((cause) => {
        lose(cause, waiting.length + 1);
        waiting.length = 0;
      })
      .finally(() => {
        writing = null;
      });
  };

  return {
    add: (entry) => {
      const oneIn = keptOneIn();
      second.seen += 1;
      if (second.seen % oneIn !== 0) return lost.inc({ reason: "sampled" });
      if (!store.isUp()) return lose(STORE_AWAY, 1);
      if (waiting.length >= MOST_WAITING) return lost.inc({ reason: "too-many" });
      waiting.push({ entry, keptOneIn: oneIn });
      if (waiting.length === 1) setImmediate(flush);
    },
    flushed: async () => {
      while (waiting.length > 0 || writing !== null) {
        flush();
        await writing;
      }
    },
  };
};
