/** What people ordered of regions and traffic: kept in memory, persisted in the store, heard by every GTM. */
import type { AdminState } from "#gtm/domain/region.ts";
import type { OverrideRule } from "#gtm/domain/world.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { ordersKey } from "#shared/keys.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { announceChange, subscribeToChanges } from "./changes.ts";
import { NO_ORDERS, standingAt, withOrder, withoutOrder } from "./orders.ts";
import { createOrdersStore } from "./orders-store.ts";
import type { StoreFailures } from "./store-failures.ts";

export type OrderWish = {
  readonly region: RegionId;
  readonly admin: Exclude<AdminState, "active">;
  readonly comment: string;
  readonly actor: string;
  /** Epoch ms; null: it stands until taken back. */
  readonly expiresAtMs: number | null;
};

export type OperatorState = Part & {
  /** As this instance knows them, without what has expired. */
  readonly current: () => OrdersRecord;
  /** A region without an entry is active. */
  readonly admin: () => ReadonlyMap<RegionId, AdminState>;
  readonly overrides: () => readonly OverrideRule[];
  /** @throws {OperationalError} GTM_STORE_UNREACHABLE: an order must reach every GTM, so none is taken while the store is away */
  readonly order: (wish: OrderWish) => Promise<OrdersRecord>;
  /** Takes back what was ordered of a region; nothing happens where nothing was. @throws {OperationalError} as `order` */
  readonly undo: (region: RegionId, actor: string) => Promise<OrdersRecord>;
};

export type OperatorStateOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failures: StoreFailures;
  readonly onChanged: () => void;
};

/** What a lost announcement costs at most. */
const RELOAD_EVERY_MS = 2_000;

export const createOperatorState = (options: OperatorStateOptions): OperatorState => {
  const { store, clock, log } = options;
  const persisted = createOrdersStore(store);
  let known = NO_ORDERS;
  let unsubscribe: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reloading: Promise<void> | null = null;

  const adopt = (found: OrdersRecord): void => {
    if (found.rev <= known.rev) return;
    known = found;
    options.onChanged();
  };
  const current = (): OrdersRecord => standingAt(known, clock.epochMs());
  const change = async (make: (orders: OrdersRecord) => OrdersRecord): Promise<void> => {
    adopt(await persisted.change(known, (orders) => make(standingAt(orders, clock.epochMs()))));
    // It stands, and whoever does not hear of it now reads it within 2 s.
    await announceChange(store, ordersKey(), known.rev).catch((cause) => options.failures("orders.announce", cause));
  };
  const reloadOnce = async (): Promise<void> => {
    try {
      unsubscribe ??= await subscribeToChanges(store, ({ key, rev }) => {
        if (key === ordersKey() && rev > known.rev) void reload();
      });
      adopt(await persisted.read(known));
    } catch (cause) {
      options.failures("orders.read", cause);
    }
  };
  const reload = (): Promise<void> => {
    reloading ??= reloadOnce().finally(() => {
      reloading = null;
    });
    return reloading;
  };

  return {
    name: "operator-state",
    current,
    admin: () => new Map(current().regions.map(({ region, admin }) => [region, admin])),
    overrides: () =>
      current().overrides.map(({ id, kind, region, pool, model, tenant }) => ({
        id,
        kind,
        region,
        pool,
        model,
        tenant,
      })),
    order: async (wish) => {
      const order = { ...wish, orderedAtMs: clock.epochMs() };
      await change((orders) => withOrder(orders, order));
      log.info("order.placed", {
        region: wish.region,
        admin: wish.admin,
        actor: wish.actor,
        expiresAtMs: wish.expiresAtMs,
      });
      return current();
    },
    undo: async (region, actor) => {
      await change((orders) => withoutOrder(orders, region));
      log.info("order.undone", { region, actor });
      return current();
    },
    start: async () => {
      await reload();
      timer = setInterval(() => void reload(), RELOAD_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      unsubscribe?.();
      unsubscribe = null;
      await reloading;
    },
  };
};
