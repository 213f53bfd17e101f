/** Hears what gateways measured of their turns, on the channel `turns`: checked, counted, each batch once. */
import { LRUCache } from "lru-cache";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { turnsChannel } from "#shared/keys.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { MeasuredTurn, TurnBatch } from "#shared/measured-turn.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { ReportKeys } from "./reports.ts";
import type { StoreFailures } from "./store-failures.ts";
import { checkedBatch, type TurnRefusal } from "./turn-check.ts";

export type TurnsOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  /** Read anew with each batch: the configuration may change. */
  readonly regions: readonly RegionId[];
  /** They sign what a region's gateways measured, too. */
  readonly reportKeys: ReportKeys;
  readonly onTurns: (turns: readonly MeasuredTurn[]) => void;
};

/** A subscription that the store did not take is asked for again. */
const RETRY_EVERY_MS = 1_000;
/** Gateways' processes whose last batch is remembered. */
const MOST_GATEWAYS = 1_000;
/** Told once in so long for each region and reason; counted always. */
const TELL_EVERY_MS = 60_000;

export const createTurns = (options: TurnsOptions): Part => {
  const { store, clock, log, metrics } = options;
  const last = new LRUCache<string, number>({ max: MOST_GATEWAYS });
  const toldAtMs = new Map<string, number>();
  let unsubscribe: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;
  const heard = metrics.counter({
    name: "gtm_turns_heard_total",
    help: "Turns that gateways measured and that were heard, by region and how they ended. Every GTM hears all of them.",
    labels: ["region", "outcome"],
  });
  const refused = metrics.counter({
    name: "gtm_turn_batches_refused_total",
    help: "Batches of measured turns that were not believed, by the reason.",
    labels: ["reason"],
  });
  const lost = metrics.counter({
    name: "gtm_turn_batches_lost_total",
    help: "Batches of measured turns that a gateway sent and that never came; they cost learning and nothing else.",
    labels: ["region"],
  });

  const refuse = (reason: TurnRefusal, detail: string): void => {
    refused.inc({ reason });
    const nowMs = clock.monotonicMs();
    if (nowMs - (toldAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    toldAtMs.set(reason, nowMs);
    log.warn("turns.refused", { reason, detail });
  };
  /** @returns whether it is the next one, or one after that */
  const isNew = ({ region, gateway, boot, seq }: TurnBatch): boolean => {
    const key = JSON.stringify([region, gateway, boot]);
    const before = last.get(key);
    if (before !== undefined && seq <= before) return false;
    // A number that jumps beyond reason says nothing of how many there were.
    if (before !== undefined) lost.inc({ region }, Math.min(seq - before - 1, MOST_GATEWAYS));
    last.set(key, seq);
    return true;
  };
  const take = (batch: TurnBatch): void => {
    for (const { region, outcome } of batch.turns) heard.inc({ region, outcome });
    options.onTurns(batch.turns);
  };
  const hear = (message: string): void => {
    const checked = checkedBatch(message, new Set(options.regions), (region) => options.reportKeys.get(region) ?? []);
    if (checked.kind === "refused") refuse(checked.reason, checked.detail);
    else if (isNew(checked.batch)) take(checked.batch);
    else refuse("repeated", `${checked.batch.region}/${checked.batch.gateway}`);
  };
  const listen = async (): Promise<void> => {
    try {
      unsubscribe ??= await store.subscribe(turnsChannel(), hear);
    } catch (cause) {
      options.failures("turns.subscribe", cause);
    }
  };
  return {
    name: "turns",
    start: async () => {
      await listen();
      timer = setInterval(() => void listen(), RETRY_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      unsubscribe?.();
      unsubscribe = null;
    },
  };
};
