/** What the store did not do for the gateway: counted each time, told of now and then, so that a store away for an hour is no log of an hour. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

/** @param operation what was attempted, such as "ledger.write" */
export type StoreWarnings = (operation: string, cause: unknown) => void;

const TOLD_EVERY_MS = 10_000;

export const createStoreWarnings = (by: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}): StoreWarnings => {
  const failures = by.metrics.counter({
    name: "gtm_gateway_store_failures_total",
    help: "What a gateway asked of the store, and it did not do within its deadline or at all.",
    labels: ["operation"],
  });
  const toldAtMs = new Map<string, number>();
  return (operation, cause) => {
    failures.inc({ operation });
    const nowMs = by.clock.monotonicMs();
    if (nowMs - (toldAtMs.get(operation) ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return;
    toldAtMs.set(operation, nowMs);
    // A fault of the surroundings heals; anything else is a bug, and somebody must act.
    const level = cause instanceof OperationalError ? "warn" : "error";
    by.log[level]("store.failed", { operation, cause: String(cause) });
  };
};
