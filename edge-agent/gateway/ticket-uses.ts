/** Which tickets the region's gateways opened, so that one is good for one use at all of them together: by set-if-absent in the store. */
import { withinDeadline } from "#shared/deadline.ts";
import { OperationalError } from "#shared/errors.ts";
import type { RegionId } from "#shared/ids.ts";
import { ticketKey } from "#shared/keys.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { RememberTicket, TicketMemory } from "#shared/ticket-memory.ts";
import type { StoreWarnings } from "./store-warnings.ts";

/** A turn waits no longer for a store that is late. */
const DEADLINE_MS = 250;
const LATE = new OperationalError("GTM_STORE_UNREACHABLE", `no answer within ${DEADLINE_MS} ms`);
const AWAY = new OperationalError("GTM_STORE_UNREACHABLE", "the store is away");

/**
 * Where the store does not say in time whether a ticket was used, this process's own memory is what is left: a turn is worth more
 * than the second use that somebody who caught its ticket might make elsewhere. That is counted and warned of.
 */
export const rememberInRegion = (by: {
  readonly store: Pick<Store, "setIfAbsent" | "isUp">;
  readonly metrics: Metrics;
  readonly warn: StoreWarnings;
  readonly region: RegionId;
  readonly gateway: string;
  readonly own: Pick<TicketMemory, "remember">;
}): RememberTicket => {
  const unshared = by.metrics.counter({
    name: "gtm_gateway_tickets_unshared_total",
    help: "Tickets that were opened without the store's word on whether another gateway of the region had: it was away or late.",
  });
  unshared.inc({}, 0);
  const alone = (cause: unknown): boolean => {
    unshared.inc();
    by.warn("ticket.use", cause);
    return true;
  };
  return async (jti, untilMs, nowMs) => {
    // Used here before: nobody has to be asked.
    if (!by.own.remember(jti, untilMs, nowMs)) return false;
    if (!by.store.isUp()) return alone(AWAY);
    const ttlMs = Math.max(1, Math.ceil(untilMs - nowMs));
    const answer = await withinDeadline(
      by.store.setIfAbsent(ticketKey(by.region, jti), by.gateway, ttlMs),
      DEADLINE_MS,
    );
    switch (answer.kind) {
      case "done":
        return answer.value;
      case "late":
        return alone(LATE);
      case "failed":
        return alone(answer.cause);
    }
  };
};
