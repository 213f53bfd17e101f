/** The orders in the store: read, written by compare-and-set, and put back where the store lost them. */
import { OperationalError } from "#shared/errors.ts";
import { ordersKey } from "#shared/keys.ts";
import { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { merged } from "./orders.ts";

export type OrdersStore = {
  /**
   * What stands in the store; where it has none, or an older revision than `known`, that is put back first.
   *
   * @throws {OperationalError} GTM_STORE_UNREACHABLE; GTM_RECORD_REFUSED when what stands there is no record, which is left alone
   */
  readonly read: (known: OrdersRecord) => Promise<OrdersRecord>;
  /**
   * Makes a change to what stands there, again and again until nobody else was faster.
   *
   * @param change gets the orders and returns the next revision of them
   * @throws {OperationalError} as `read`
   */
  readonly change: (known: OrdersRecord, change: (orders: OrdersRecord) => OrdersRecord) => Promise<OrdersRecord>;
};

/** People do not order often enough to lose this many races. */
const MOST_ATTEMPTS = 8;

export const createOrdersStore = (store: Store): OrdersStore => {
  const key = ordersKey();

  const find = async (): Promise<OrdersRecord | null> => {
    const stored = await store.get(key);
    return stored === null ? null : parseOrders(stored.value);
  };
  const read = async (known: OrdersRecord): Promise<OrdersRecord> => {
    const found = await find();
    if ((found?.rev ?? 0) >= known.rev) return found ?? known;
    // A store that was wiped or restored: what we know is put back, together with what was ordered since.
    if (found !== null) await store.remove(key);
    const restored = found === null ? known : merged(known, found);
    const isPut = await store.setIfAbsent(key, JSON.stringify(restored), null);
    return isPut ? restored : ((await find()) ?? restored);
  };

  return {
    read,
    change: async (known, change) => {
      let base = known;
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        base = await read(base);
        const next = change(base);
        const outcome = await store.compareAndSet(key, base.rev, JSON.stringify(next), null);
        if (outcome.kind === "stored") return next;
      }
      throw new OperationalError(
        "GTM_STORE_UNREACHABLE",
        `orders changed ${MOST_ATTEMPTS} times while one was written`,
      );
    },
  };
};

const parseOrders = (value: string): OrdersRecord => {
  let raw: unknown = null;
  try {
    raw = JSON.parse(value);
  } catch (cause) {
    throw new OperationalError("GTM_RECORD_REFUSED", `${ordersKey()} holds no JSON`, { cause });
  }
  const parsed = OrdersRecord.safeParse(raw);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  throw new OperationalError("GTM_RECORD_REFUSED", `${ordersKey()}: ${faults.join("; ")}`);
};
