/** What people ordered of regions and traffic: kept in memory, persisted in the store, heard by every GTM. */
import { isDeepStrictEqual } from "node:util";
import { ruleOf, unknownKinds } from "#gtm/domain/override-rule.ts";
import { announceChange, subscribeToChanges } from "#shared/changes.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { ordersKey } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import type { Degradations } from "./degradations.ts";
import { begun, drainsOf, settledBy, withoutOperation } from "./drain-orders.ts";
import { withVerified } from "./operations.ts";
import type { OperatorState } from "./operator-port.ts";
import { NO_ORDERS, reconciled, standingAt, withOrder, withOverride, withoutOrder } from "./orders.ts";
import { createOrdersStore } from "./orders-store.ts";
import type { StoreFailures } from "./store-failures.ts";

export type OperatorStateOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failures: StoreFailures;
  readonly degradations: Pick<Degradations, "set">;
  readonly onChanged: () => void;
  /** The store had lost the orders, and so perhaps more: it was wiped, or came back empty. */
  readonly onWiped: () => void;
};

/** What a lost announcement costs at most, and how soon a wiped store has them again. */
const RELOAD_EVERY_MS = 1_000;

export const createOperatorState = (options: OperatorStateOptions): OperatorState => {
  const { store, clock, log } = options;
  const persisted = createOrdersStore(store);
  let known = NO_ORDERS;
  let unsubscribe: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reloading: Promise<void> | null = null;

  /** What was read may be older than what was ordered here meanwhile. */
  const adopt = (found: OrdersRecord): void => {
    const next = reconciled(known, found);
    if (isDeepStrictEqual(next, known)) return;
    known = next;
    options.onChanged();
  };
  const nowMs = (): number => Math.floor(clock.epochMs());
  const current = (): OrdersRecord => standingAt(known, clock.epochMs());
  const degraded = (reason: string | null): void =>
    options.degradations.set("orders", reason ?? unknownKinds(current().overrides));
  /** It stands, and whoever does not hear of it now reads it within a second. */
  const announce = (): Promise<void> =>
    announceChange(store, ordersKey(), known.rev).catch((cause) => options.failures("orders.announce", cause));
  const change = async (make: (orders: OrdersRecord) => OrdersRecord): Promise<void> => {
    try {
      adopt(await persisted.change(known, (orders) => settledBy(make(orders), orders, nowMs())));
    } catch (cause) {
      // Whoever ordered is told; that nobody else can order either is told here.
      options.failures("orders.write", cause);
      if (known.rev > 0) degraded(`orders are refused: ${String(cause)}`);
      throw cause;
    }
    degraded(null);
    await announce();
  };
  /** @returns false: something else stands about the region than was seen, and nothing was changed */
  const changeRegion = async (
    { region, seenAtMs }: { readonly region: RegionId; readonly seenAtMs: number | null },
    make: (orders: OrdersRecord) => OrdersRecord,
  ): Promise<boolean> => {
    let isAsSeen = true;
    await change((orders) => {
      const standing = standingAt(orders, nowMs()).regions.find((one) => one.region === region);
      isAsSeen = seenAtMs === null || seenAtMs === (standing?.orderedAtMs ?? 0);
      return isAsSeen ? make(orders) : orders;
    });
    return isAsSeen;
  };
  const listen = async (): Promise<void> => {
    try {
      unsubscribe ??= await subscribeToChanges(store, ({ key, rev }) => {
        if (key === ordersKey() && rev !== known.rev) void reload();
      });
    } catch (cause) {
      options.failures("orders.subscribe", cause);
    }
  };
  const readOnce = async (): Promise<void> => {
    try {
      const { orders, restored, writeFault } = await persisted.read(known);
      adopt(orders);
      if (writeFault !== null) options.failures("orders.write", writeFault);
      degraded(writeFault === null ? null : `orders are refused: ${String(writeFault)}`);
      if (restored === null) return;
      log.warn("orders.restored", { how: restored, rev: orders.rev });
      if (restored === "put-back") options.onWiped();
      await announce();
    } catch (cause) {
      options.failures("orders.read", cause);
      degraded(`orders are refused, and those of others not heard: ${String(cause)}`);
    }
  };
  const reloadOnce = async (): Promise<void> => {
    await Promise.all([listen(), readOnce()]);
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
    record: () => known,
    restore: adopt,
    admin: () => new Map(current().regions.map(({ region, admin }) => [region, admin])),
    overrides: () => current().overrides.flatMap((one) => ruleOf(one) ?? []),
    drains: () => drainsOf(current()),
    order: async ({ schedule, operation, ...wish }, seenAtMs = null) => {
      const order = {
        ...{ ...wish, orderedAtMs: nowMs() },
        ...(schedule === null ? {} : { schedule }),
        ...(operation === null ? {} : { operation: operation.id }),
      };
      const isAsSeen = await changeRegion({ region: wish.region, seenAtMs }, (orders) =>
        begun(withOrder(orders, order), operation),
      );
      if (!isAsSeen) return null;
      log.info("order.placed", {
        region: wish.region,
        admin: wish.admin,
        actor: wish.actor,
        expiresAtMs: wish.expiresAtMs,
      });
      return current();
    },
    undo: async (region, actor, seenAtMs = null) => {
      const atMs = nowMs();
      if (!(await changeRegion({ region, seenAtMs }, (orders) => withoutOrder(orders, { region, actor, atMs }))))
        return null;
      log.info("order.undone", { region, actor });
      return current();
    },
    override: async (override, operation) => {
      await change((orders) => begun(withOverride(orders, override), operation));
      const { id, kind, region, actor, expiresAtMs } = override;
      log.info("override.placed", { override: id, kind, region, actor, expiresAtMs });
      return current();
    },
    changeOverride: async (id, { actor, comment, expiresAtMs, share, seenAtMs }) => {
      let isThere = false;
      await change((orders) => {
        const standing = standingAt(orders, nowMs()).overrides.find((one) => one.id === id);
        isThere = standing !== undefined && (seenAtMs === null || seenAtMs === standing.orderedAtMs);
        if (standing === undefined || !isThere) return orders;
        const said = { ...(comment === null ? {} : { comment }), ...(share === null ? {} : { share }) };
        return withOverride(orders, { ...standing, ...said, actor, expiresAtMs, orderedAtMs: nowMs() });
      });
      if (isThere) log.info("override.changed", { override: id, actor, expiresAtMs });
      return isThere ? current() : null;
    },
    cancelOperation: async (id, by) => {
      let isCancelled = false;
      await change((orders) => {
        const cancelled = withoutOperation(orders, id, { ...by, atMs: nowMs() });
        isCancelled = cancelled !== null;
        return cancelled ?? orders;
      });
      if (isCancelled) log.info("operation.cancelled", { operation: id, actor: by.actor });
      return isCancelled ? current() : null;
    },
    verifyOperation: async (id) => {
      await change((orders) => withVerified(orders, id, nowMs()));
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
