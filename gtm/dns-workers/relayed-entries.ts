/** Decisions of a thread on their way to the record that the main thread keeps, and how often they were answered since. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";
import type { Batch, RelayedEntry } from "./messages.ts";

export type RelayedEntries = {
  readonly record: (entry: Entry) => void;
  /** What was decided until now is decided anew before it is answered again. */
  readonly turnEpoch: () => void;
  readonly take: () => Pick<Batch, "entries" | "answered">;
};

/**
 * An epoch: each costs the main thread as much as a decision (test/bench/dns-workers.bench.ts), and a flood of networks from
 * nowhere is as many decisions as queries.
 */
const MOST_ENTRIES = 3_000;

type Counted = { readonly id: DecisionId; readonly answered: { readonly value: number }; told: number };

/** @param onDropped one was too many: it was answered, and is not on record */
export const createRelayedEntries = (clock: Pick<Clock, "monotonicMs">, onDropped: () => void): RelayedEntries => {
  let fresh: RelayedEntry[] = [];
  /** Counted on while their epoch lasts, and once more after it. */
  let counted: Counted[] = [];
  let ending: Counted[] = [];
  let relayed = 0;
  const newlyAnswered = (one: Counted): readonly (readonly [DecisionId, number])[] => {
    const more = one.answered.value - one.told;
    one.told = one.answered.value;
    return more === 0 ? [] : [[one.id, more]];
  };
  return {
    record: ({ query, decision, answer, answered }) => {
      if (relayed >= MOST_ENTRIES) {
        onDropped();
        return;
      }
      relayed += 1;
      fresh.push({ query, decision, answer, recordedAtMs: clock.monotonicMs() });
      counted.push({ id: decision.id, answered, told: 0 });
    },
    turnEpoch: () => {
      ending.push(...counted);
      counted = [];
      relayed = 0;
    },
    take: () => {
      const taken = { entries: fresh, answered: [...ending, ...counted].flatMap(newlyAnswered) };
      fresh = [];
      ending = [];
      return taken;
    },
  };
};
