/** What was decided lately: kept in memory, copied to the store, shown to who watches; all of it behind the answers. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { InstanceId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createDecisionRing, type DecisionRing } from "./decision-ring.ts";
import { createDecisionStream } from "./decision-stream.ts";
import type { Degradations } from "./degradations.ts";
import type { StoreFailures } from "./store-failures.ts";

export type DecisionLogOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
  readonly instance: InstanceId;
  /** What everybody who reads an entry sees; computed when it is read, not when it is recorded. */
  readonly view: (entry: Entry) => object;
};

export type DecisionLog = Part &
  Pick<DecisionRing, "get" | "list"> & {
    /** Puts the entry into memory and returns; never throws. */
    readonly record: (entry: Entry) => void;
    /**
     * Hears every entry soon after it was recorded, in order; at most a hundred can listen. A listener that throws is
     * heard of and no longer called.
     *
     * @returns a function that ends the subscription
     * @throws {Error} when too many listen already
     */
    readonly subscribe: (listener: (entry: Entry) => void) => () => void;
  };

/** About 2 KB each with three regions. */
const CAPACITY = 10_000;
const MOST_LISTENERS = 100;
/** More between two turns of the event loop are not shown; they are in the ring. */
const MOST_UNHEARD = 10_000;

export const createDecisionLog = (options: DecisionLogOptions): DecisionLog => {
  const { log, metrics } = options;
  const ring = createDecisionRing(CAPACITY);
  const stream = createDecisionStream(options);
  const listeners = new Set<(entry: Entry) => void>();
  let unheard: Entry[] = [];
  const dropped = metrics.counter({
    name: "gtm_decision_subscribers_dropped_total",
    help: "Who watched decisions and is no longer told of them, because telling failed.",
  });
  const untold = metrics.counter({
    name: "gtm_decisions_untold_total",
    help: "Decisions that came too fast for those who watch.",
  });

  const tell = (listener: (entry: Entry) => void, entry: Entry): void => {
    try {
      listener(entry);
    } catch (fault) {
      listeners.delete(listener);
      dropped.inc();
      log.warn("decision.subscriber-dropped", { fault: String(fault) });
    }
  };
  const tellAll = (): void => {
    const entries = unheard;
    unheard = [];
    for (const entry of entries) for (const listener of listeners) tell(listener, entry);
  };

  return {
    name: "decisions",
    get: ring.get,
    list: ring.list,
    record: (entry) => {
      ring.add(entry);
      stream.add(entry);
      if (listeners.size === 0) return;
      if (unheard.length >= MOST_UNHEARD) return untold.inc();
      unheard.push(entry);
      if (unheard.length === 1) setImmediate(tellAll);
    },
    subscribe: (listener) => {
      if (listeners.size >= MOST_LISTENERS) throw new Error(`${MOST_LISTENERS} listen to decisions already`);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: async () => {},
    stop: async () => {
      listeners.clear();
      await stream.flushed();
    },
  };
};
