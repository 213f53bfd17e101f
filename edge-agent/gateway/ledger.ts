/** Corrects the ledger by what turns really left in this region's caches: by compare-and-set, behind the turns, kept while the store is away. */
import { announceChange } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import { listConversation } from "#shared/conversation-index.ts";
import { packed, type RecordedConversation, unpacked } from "#shared/conversation-record.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { conversationKey, KEYS, responseKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { ResponseRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { createWriteQueue } from "#shared/write-queue.ts";
import { afterMeasured, bothMeasured, type Measured } from "./ledger-entry.ts";
import type { StoreWarnings } from "./store-warnings.ts";

export type Ledger = {
  /** Returns at once. */
  readonly correct: (measured: Measured) => void;
  /**
   * A stored response lies here. Resolves when the store has it, or does not answer: then it is written later.
   *
   * @param response `labels.conversationIdOf("response", id)`
   */
  readonly keepResponse: (response: ConversationId, conversation: ConversationId | null) => Promise<void>;
  /** Resolves when nothing is left to write, or the store is away. */
  readonly stop: () => Promise<void>;
};

export type LedgerOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly region: RegionId;
  readonly warn: StoreWarnings;
  /** 0 to 1. */
  readonly random: () => number;
};

const TTL_MS = KEYS.conversation.ttlMs;
const MOST_WAITING = 10_000;
const MOST_ATTEMPTS = 8;
/** A client waits for its answer's end no longer than this for the store to know where its response lies. */
const LONGEST_WAIT_MS = 250;

export const createLedger = (options: LedgerOptions): Ledger => {
  const { store, clock, metrics, region } = options;
  const lost = metrics.counter({
    name: "gtm_gateway_ledger_lost_total",
    help: "Corrections of the ledger that were given up: too many waited, others were faster again and again, or the record is none.",
    labels: ["reason"],
  });
  for (const reason of ["too-many", "contended", "refused"]) lost.inc({ reason }, 0);
  const corrected = metrics.counter({
    name: "gtm_gateway_ledger_corrections_total",
    help: "Conversations whose entry in the ledger was written with what a turn was measured to hold.",
  });
  corrected.inc({}, 0);
  const size = metrics.gauge({
    name: "gtm_gateway_ledger_waiting",
    help: "Corrections of the ledger and places of stored responses that wait to be written to the store.",
  });

  /** @returns the written entry; null: somebody else was faster. @throws {OperationalError} the store did not answer */
  const attempt = async (measured: Measured): Promise<RecordedConversation | "refused" | null> => {
    const key = conversationKey(measured.id);
    const stored = await store.get(key);
    const nowMs = clock.monotonicMs();
    const before = stored === null ? null : unpacked(measured.id, stored, [], nowMs);
    if (stored !== null && before === null) return "refused";
    const { conversation, owner } = afterMeasured(before, measured, TTL_MS);
    const rev = conversation.rev + 1;
    const written = await store.compareAndSet(key, rev - 1, packed(conversation, owner, rev, nowMs), TTL_MS);
    return written.kind === "stored" ? { ...conversation, rev } : null;
  };
  const announce = async ({ id, rev, holdings, lastTurnAtMs }: RecordedConversation): Promise<void> => {
    try {
      await announceChange(store, conversationKey(id), rev);
      // Other regions' lists are not ours to change; the GTMs sweep them.
      if (holdings[0].region !== region) return;
      const contextTokens = Math.max(...holdings.map(({ tokens }) => tokens));
      const lastTurnEpochMs = lastTurnAtMs + clock.epochMs() - clock.monotonicMs();
      await listConversation(store, { id, region, lastTurnEpochMs, contextTokens });
    } catch (cause) {
      // The entry is written; GTMs look again within 2 s.
      options.warn("ledger.announce", cause);
    }
  };
  const write = async (id: ConversationId, first: Measured): Promise<void> => {
    for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
      const written = await attempt(first);
      if (written === null) continue;
      settle(id, first);
      if (written === "refused") return lost.inc({ reason: "refused" });
      corrected.inc();
      return announce(written);
    }
    settle(id, first);
    lost.inc({ reason: "contended" });
  };
  /** A turn that was measured meanwhile is written next; it counts what it added only. */
  const settle = (id: ConversationId, written: Measured): void => {
    const now = queue.get(id);
    if (now === written) queue.remove(id);
    else if (now !== null) queue.replace(id, { ...now, turns: Math.max(0, now.turns - written.turns) });
  };
  const common = {
    onFailed: (cause: unknown) => options.warn("ledger.write", cause),
    onWritten: () => undefined,
    onDropped: () => lost.inc({ reason: "too-many" }),
    isUp: store.isUp,
    random: options.random,
    most: MOST_WAITING,
  };
  const queue = createWriteQueue<ConversationId, Measured>({
    ...common,
    write,
    size: { ...size, set: () => setSize() },
  });
  /** Who waits for a response's place to be written. */
  const awaited = new Map<ConversationId, () => void>();
  const responses = createWriteQueue<ConversationId, ConversationId | null>({
    ...common,
    write: async (response, conversation) => {
      const record = { v: 1, region, conversation } satisfies ResponseRecord;
      await store.put(responseKey(response), JSON.stringify(record), KEYS.response.ttlMs);
      responses.remove(response);
      awaited.get(response)?.();
    },
    size: { ...size, set: () => setSize() },
  });
  const setSize = (): void => size.set(queue.size() + responses.size());
  setSize();

  return {
    correct: (measured) => {
      const waiting = queue.get(measured.id);
      queue.add(measured.id, waiting === null ? measured : bothMeasured(waiting, measured));
    },
    keepResponse: async (response, conversation) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited.set(response, resolve);
      const late = setTimeout(resolve, store.isUp() ? LONGEST_WAIT_MS : 0);
      responses.add(response, conversation);
      await promise;
      clearTimeout(late);
      awaited.delete(response);
    },
    stop: async () => {
      await Promise.all([queue.drained(), responses.drained()]);
      queue.stop();
      responses.stop();
    },
  };
};
