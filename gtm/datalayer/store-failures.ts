/** What the store did not do: counted each time, told of now and then, so that a store away for an hour is not a log of an hour. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";

/** @param operation what was attempted, such as "report.read" */
export type StoreFailures = (operation: string, cause: unknown) => void;

/** For work that is not tried while the store is away. Made once: an error with its stack costs more than a decision. */
export const STORE_AWAY = new OperationalError("GTM_STORE_UNREACHABLE", "the store is away");

const TOLD_EVERY_MS = 10_000;

export const createStoreFailures = (options: {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}): StoreFailures => {
  const { log, clock } = options;
  const toldAtMs = new Map<string, number>();
  const failures = options.metrics.counter({
    name: "gtm_store_failures_total",
    help: "Operations that the store did not do within its deadline, or at all.",
    labels: ["operation"],
  });
  return (operation, cause) => {
    failures.inc({ operation });
    const nowMs = clock.monotonicMs();
    if (nowMs - (toldAtMs.get(operation) ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return;
    toldAtMs.set(operation, nowMs);
    // A fault of the surroundings heals; anything else is a bug, and somebody must act.
    const level = cause instanceof OperationalError ? "warn" : "error";
    log[level]("store.failed", { operation, cause: String(cause) });
  };
};
