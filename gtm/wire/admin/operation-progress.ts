/** What a drain has still to do: what the ledger says is held there, and what the engines there are running. */
import { leavesAtMs, leavingKey } from "#gtm/domain/drain-schedule.ts";
import type { Region } from "#gtm/domain/region.ts";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { DrainScheduleRecord, OperationRecord } from "#shared/operation-record.ts";
import { heldAtHome } from "./drain-pacing.ts";
import { concernedBy, regionsIn, type Scope } from "./drain-scope.ts";
import type { KnownConversation } from "./known-conversation.ts";
import type { AdminPorts } from "./ports.ts";

/** What is left of a drain at a moment. */
export type Held = {
  /** At home there, as far as was looked at. */
  readonly conversations: number;
  /** With a turn within the pin's time; of the others nobody counts on what they left there. */
  readonly pinned: number;
  /** Held by the pinned ones. */
  readonly tokens: number;
  /** False: there are more than were looked at. */
  readonly isComplete: boolean;
  /** Requests that engines there run or keep waiting; null: they do not say, or not of this traffic alone. */
  readonly requests: number | null;
  /** Until the last of the pinned has taken its turn to leave, or its pin is over, ms; null: nothing sees to that. */
  readonly mostMs: number | null;
  /** Until the schedule lets the last of the pinned go, ms; 0: they are free to leave. */
  readonly heldBackMs: number;
};

export type Moment = { readonly nowMs: number; readonly epochMs: number };

/** @throws {OperationalError} GTM_STORE_UNREACHABLE */
export const heldBy = async (
  ports: Pick<AdminPorts, "conversations" | "decisions" | "pools" | "steering" | "policy" | "orders">,
  operation: OperationRecord,
  at: Moment,
): Promise<Held> => {
  const { known, isComplete } = await concernedBy(ports, operation);
  const { pinMs } = ports.policy;
  const pinned = known.filter(({ conversation }) => at.nowMs - conversation.lastTurnAtMs <= pinMs);
  const schedule = scheduleOf(ports, operation);
  const waits = pinned.map((one) => ({ one, waitMs: schedule === null ? 0 : waitMs(one, schedule, at.epochMs) }));
  const rest = waits.map(({ one, waitMs: ms }) => restMs(one, ms, pinMs, at.nowMs));
  return {
    conversations: known.length,
    pinned: pinned.length,
    tokens: pinned.reduce((sum, one) => sum + heldAtHome(one), 0),
    isComplete,
    requests: requestsIn(regionsIn(operation, ports), operation, ports.policy.staleAfterMs),
    mostMs: operation.mode === "drain-new" || !isComplete ? null : Math.max(0, ...rest),
    heldBackMs: Math.max(0, ...waits.map(({ waitMs: ms }) => ms)),
  };
};

/** Nothing is pinned there, and no engine runs anything, as far as they say. */
export const isEmpty = ({ pinned, isComplete, requests }: Held): boolean =>
  pinned === 0 && isComplete && (requests ?? 0) === 0;

export const scheduleOf = (
  ports: Pick<AdminPorts, "orders">,
  { id, override }: OperationRecord,
): DrainScheduleRecord | null => {
  const { regions, overrides } = ports.orders.current();
  const order =
    override === null ? regions.find((one) => one.operation === id) : overrides.find((one) => one.id === id);
  return order?.schedule ?? null;
};

/** Until its turn to leave comes; not above 0: it has come. */
const waitMs = (known: KnownConversation, schedule: DrainScheduleRecord, epochMs: number): number =>
  leavesAtMs(schedule, leavingKey(heldAtHome(known), known.conversation.id)) - epochMs;

/** Until its turn to leave has come it may have others, and each renews its pin. */
const restMs = ({ conversation }: KnownConversation, untilFreeMs: number, pinMs: number, nowMs: number): number =>
  untilFreeMs > 0 ? untilFreeMs + pinMs : Math.max(0, conversation.lastTurnAtMs + pinMs - nowMs);

const requestsIn = (regions: readonly Region[], scope: Scope, staleAfterMs: number): number | null => {
  // Engines know models, and neither pools nor tenants.
  if (scope.pool !== "*" || scope.tenant !== "*") return null;
  let sum = 0;
  for (const { reportAgeMs, placements } of regions) {
    if (reportAgeMs === null || reportAgeMs > staleAfterMs) return null;
    for (const { model, requestsRunning, requestsWaiting } of placements.values()) {
      if (!matchesGlob(scope.model, model)) continue;
      if (requestsRunning === null) return null;
      sum += requestsRunning + (requestsWaiting ?? 0);
    }
  }
  return sum;
};
