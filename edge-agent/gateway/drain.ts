/** Whether the gateway is on its way out: by a signal to its process, or by what operators ordered about its region. */

import { subscribeToChanges } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { ordersKey } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { type AdminState, OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";

export type Drain = {
  /** Answers end their connections, so that clients look for another region. */
  readonly isClosing: () => boolean;
  /** New turns go elsewhere. */
  readonly isRefusing: () => boolean;
  /**
   * For `/healthz`; null: nothing. What operators ordered is no reason: the GTMs know of it, and a region that they may take
   * back at once must not look dead meanwhile.
   */
  readonly why: () => string | null;
  /** The process was told to stop; `refusing` once its linger is over. */
  readonly stopping: (phase: "lingering" | "refusing") => void;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** A change that was announced while nobody listened is found after this. */
const LOOK_EVERY_MS = 5_000;

export const createDrain = (
  region: RegionId,
  by: { readonly store: Store; readonly clock: Clock; readonly log: Logger; readonly metrics: Metrics },
): Drain => {
  const { store, clock, log } = by;
  const unread = by.metrics.counter({
    name: "gtm_gateway_orders_unread_total",
    help: "Times the operators' orders could not be read; what was ordered before is kept.",
  });
  unread.inc({}, 0);
  let admin: AdminState = "active";
  let expiresAtMs: number | null = null;
  let phase: "serving" | "lingering" | "refusing" = "serving";
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: (() => void) | null = null;
  let isTold = false;
  let isStopped = false;

  const ordered = (): AdminState => (expiresAtMs !== null && clock.epochMs() >= expiresAtMs ? "active" : admin);

  const look = async (): Promise<void> => {
    try {
      const stored = await store.get(ordersKey());
      const orders = stored === null ? null : OrdersRecord.parse(JSON.parse(stored.value));
      const own = orders?.regions.find((order) => order.region === region);
      const before = ordered();
      admin = own?.admin ?? "active";
      expiresAtMs = own?.expiresAtMs ?? null;
      if (ordered() !== before) log.info("region.ordered", { region, admin: ordered() });
      isTold = false;
    } catch (fault) {
      unread.inc();
      if (!isTold) log.warn("orders.unread", { region, fault: fault instanceof Error ? fault.name : String(fault) });
      isTold = true;
    }
  };
  const subscribe = async (): Promise<void> => {
    try {
      const end = await subscribeToChanges(store, ({ key }) => {
        if (key === ordersKey()) void look();
      });
      if (isStopped) end();
      else unsubscribe = end;
    } catch {
      // Looked again below, each five seconds; a store that is away is told by `look`.
    }
  };

  return {
    isClosing: () => phase !== "serving" || ["drain-all", "down"].includes(ordered()),
    isRefusing: () => phase === "refusing" || ordered() === "down",
    why: () => (phase === "serving" ? null : "this gateway is stopping"),
    stopping: (to) => {
      phase = to;
    },
    start: async () => {
      const looked = look();
      timer = setInterval(() => {
        void look();
        if (unsubscribe === null) void subscribe();
      }, LOOK_EVERY_MS);
      timer.unref();
      await Promise.all([looked, subscribe()]);
    },
    stop: async () => {
      isStopped = true;
      if (timer !== null) clearInterval(timer);
      unsubscribe?.();
    },
  };
};
