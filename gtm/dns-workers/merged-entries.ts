/** Decisions of all threads in one record: what several of them decided in one epoch is one decision, answered by all of them. */
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Batch, RelayedEntry } from "./messages.ts";

export type MergedEntries = {
  readonly book: (batch: Pick<Batch, "entries" | "answered">) => void;
};

export type MergedEntriesOptions = {
  /** @param clock stands where the thread's did when it recorded the entry */
  readonly recorderAt: (clock: Pick<Clock, "monotonicMs">) => (entry: Entry) => void;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly metrics: Metrics;
  readonly log: Logger;
};

type Known = { readonly answered: { value: number }; readonly region: RegionId | null };

/** Counts of a decision come for as long as its epoch lasts, and a batch longer. */
const KNOWN_FOR_MS = 5_000;

export const createMergedEntries = ({ recorderAt, clock, metrics, log }: MergedEntriesOptions): MergedEntries => {
  let recordedAtMs = 0;
  const record = recorderAt({ monotonicMs: () => recordedAtMs });
  const disagreements = metrics.counter({
    name: "gtm_dns_worker_disagreements_total",
    help: "Decisions that two threads made differently in one epoch: a bug.",
  });
  let young = new Map<DecisionId, Known>();
  let old = new Map<DecisionId, Known>();
  let turnedAtMs = clock.monotonicMs();

  const find = (id: DecisionId): Known | undefined => young.get(id) ?? old.get(id);
  const add = ({ recordedAtMs: atMs, ...entry }: RelayedEntry): void => {
    const { decision } = entry;
    const known = find(decision.id);
    if (known !== undefined) {
      compare(known, decision);
      return;
    }
    const answered = { value: 0 };
    young.set(decision.id, { answered, region: regionOf(decision.verdict) });
    recordedAtMs = atMs;
    record({ ...entry, answered });
  };
  const compare = ({ region }: Known, { id, verdict }: Decision): void => {
    if (regionOf(verdict) === region) return;
    disagreements.inc();
    log.error("dns.workers-disagree", { decision: id, region, other: regionOf(verdict) });
  };
  return {
    book: ({ entries, answered }) => {
      if (clock.monotonicMs() - turnedAtMs >= KNOWN_FOR_MS) {
        old = young;
        young = new Map();
        turnedAtMs = clock.monotonicMs();
      }
      for (const entry of entries) add(entry);
      for (const [id, more] of answered) {
        const known = find(id);
        if (known !== undefined) known.answered.value += more;
      }
    },
  };
};
