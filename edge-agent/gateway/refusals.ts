/** Tells the GTMs that this region refused a conversation, so that they send it elsewhere for a while: beside the turn, never before it. */
import { announceChange } from "#shared/changes.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { KEYS, refusedKey } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { RefusedRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import type { RefusalReason } from "./ports.ts";

export type Refusals = {
  /** Returns at once. */
  readonly tell: (conversation: ConversationId, reason: RefusalReason) => void;
  /** Resolves when nothing is on its way. */
  readonly drained: () => Promise<void>;
};

const MOST_WAITING = 1_000;
const MOST_AT_ONCE = 16;

/** A refusal is worth ten seconds: what the store does not take now is not kept for later, only counted. */
export const createRefusals = (
  region: RegionId,
  { store, log, metrics }: { readonly store: Store; readonly log: Logger; readonly metrics: Metrics },
): Refusals => {
  const untold = metrics.counter({
    name: "gtm_gateway_refusals_untold_total",
    help: "Refusals that the GTMs did not hear of, by why: the store was away, or too many waited.",
    labels: ["reason"],
  });
  for (const reason of ["store", "too-many"]) untold.inc({ reason }, 0);
  const waiting = new Map<ConversationId, RefusalReason>();
  const writing = new Set<Promise<void>>();
  let isTold = false;

  const write = async (conversation: ConversationId, reason: RefusalReason): Promise<void> => {
    const key = refusedKey(conversation);
    try {
      const record = { v: 1, region, reason } satisfies RefusedRecord;
      await store.put(key, JSON.stringify(record), KEYS.refused.ttlMs);
      await announceChange(store, key, 0);
      isTold = false;
    } catch (fault) {
      untold.inc({ reason: "store" });
      if (!isTold)
        log.warn("refusal.untold", { region, fault: fault instanceof Error ? fault.message : String(fault) });
      isTold = true;
    }
  };
  const pump = (): void => {
    for (const [conversation, reason] of waiting) {
      if (writing.size >= MOST_AT_ONCE) return;
      waiting.delete(conversation);
      const one = write(conversation, reason).finally(() => {
        writing.delete(one);
        pump();
      });
      writing.add(one);
    }
  };

  return {
    tell: (conversation, reason) => {
      if (waiting.size >= MOST_WAITING) return untold.inc({ reason: "too-many" });
      waiting.set(conversation, reason);
      pump();
    },
    drained: async () => {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
};
