/** Looks after drains that go on: tells of their progress, and verifies that nothing is held where one is done. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Logger } from "#shared/logger.ts";
import type { OperationRecord } from "#shared/operation-record.ts";
import { type Held, heldBy, isEmpty } from "./operation-progress.ts";
import { type OperationView, operationView } from "./operation-view.ts";
import type { AdminPorts } from "./ports.ts";

export type OperationWatch = {
  /** Looks once; returns at once where a look is under way, and never rejects. */
  readonly look: () => Promise<void>;
};

/** Empty at two looks so far apart: engines have reported in between, and a turn that was on its way has arrived. */
const CONFIRM_MS = 3_000;
/** Reading some thousand conversations is work for the store: of a large drain this is soon enough. */
const LARGE = 500;
const LOOK_AT_LARGE_MS = 10_000;

type Seen = {
  readonly key: string;
  readonly atMs: number;
  readonly pinned: number;
  readonly emptySinceMs: number | null;
};

export const createOperationWatch = (by: {
  readonly ports: AdminPorts;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tell: (view: OperationView) => void;
}): OperationWatch => {
  const { ports, clock, log } = by;
  const seen = new Map<string, Seen>();
  let isFirst = true;
  let isLooking = false;

  const tellOf = (operation: OperationRecord, held: Held | null, emptySinceMs: number | null): void => {
    const view = operationView(operation, held, ports.orders.current(), clock.epochMs());
    const { conversations = null, pinned = null, requests = null } = view.left ?? {};
    const key = JSON.stringify([view.state, conversations, pinned, requests, view.expiresAt]);
    const before = seen.get(operation.id);
    seen.set(operation.id, { key, atMs: clock.monotonicMs(), pinned: held?.pinned ?? 0, emptySinceMs });
    // What ended before this process began is no news.
    if (before?.key !== key && !(isFirst && operation.end !== null)) by.tell(view);
  };
  const lookAtRunning = async (operation: OperationRecord): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const before = seen.get(operation.id);
    if (before !== undefined && before.pinned > LARGE && nowMs - before.atMs < LOOK_AT_LARGE_MS) return;
    const held = await heldBy(ports, operation, { nowMs, epochMs: clock.epochMs() });
    const emptySinceMs = isEmpty(held) ? (before?.emptySinceMs ?? nowMs) : null;
    tellOf(operation, held, emptySinceMs);
    if (emptySinceMs === null || nowMs - emptySinceMs < CONFIRM_MS) return;
    await ports.orders.verifyOperation(operation.id);
    log.info("operation.verified-empty", { operation: operation.id, region: operation.region });
    const verified = ports.orders.current().operations?.find(({ id }) => id === operation.id);
    if (verified !== undefined) tellOf(verified, null, emptySinceMs);
  };
  const lookAtAll = async (): Promise<void> => {
    const operations = ports.orders.current().operations ?? [];
    for (const id of seen.keys()) if (!operations.some((one) => one.id === id)) seen.delete(id);
    for (const operation of operations) {
      if (operation.end === null) await lookAtRunning(operation);
      else if (seen.get(operation.id) === undefined || isNews(operation)) tellOf(operation, null, null);
    }
    isFirst = false;
  };
  const isNews = ({ id, end }: OperationRecord): boolean =>
    !(seen.get(id)?.key ?? "").startsWith(`["${end?.how ?? ""}"`);

  return {
    look: async () => {
      if (isLooking) return;
      isLooking = true;
      try {
        await lookAtAll();
      } catch (cause) {
        if (!(cause instanceof OperationalError)) log.error("admin.bug", { stack: String(cause) });
        // That the store is away is counted and told where it is read; the next look is soon.
        else log.debug("operation.unread", { code: cause.code });
      } finally {
        isLooking = false;
      }
    },
  };
};
