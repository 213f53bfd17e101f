/** The orders in the store: read, written by compare-and-set, and put back where the store lost them. */
import { OperationalError } from "#shared/errors.ts";
import { ordersKey } from "#shared/keys.ts";
import { OrdersRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { reconciled } from "./orders.ts";

export type OrdersRead = {
  readonly orders: OrdersRecord;
  /** `put-back`: the store had none. `merged`: it had lost some. null: it has all that we know. */
  readonly restored: "put-back" | "merged" | null;
  /** Why what should stand there could not be written, where that was tried; null: it could, or nothing was to be written. */
  readonly writeFault: unknown;
};

export type OrdersStore = {
  /**
   * What stands in the store; what we know and it lacks is put back, and where it refuses that, what we know is returned
   * all the same. Asks by a set-if-absent, so that it is known whether an order could be written before somebody orders.
   *
   * @throws {OperationalError} GTM_STORE_UNREACHABLE, GTM_STORE_REFUSED: it cannot be read; GTM_RECORD_REFUSED when what
   * stands there is no record, which is left alone
   */
  readonly read: (known: OrdersRecord) => Promise<OrdersRead>;
  /**
   * Makes a change to what stands there, again and again until nobody else was faster.
   *
   * @param change gets the orders and returns the next revision of them, or the same record: then nothing is written
   * @throws {OperationalError} as `read`, and where it cannot be written
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
  const putBack = async (known: OrdersRecord): Promise<boolean | { readonly fault: unknown }> =>
    known.rev === 0 ? false : await tried(store.setIfAbsent(key, JSON.stringify(known), null));
  /** @returns null: somebody else was faster */
  const mend = async (found: OrdersRecord, wanted: OrdersRecord): Promise<OrdersRead | null> => {
    const next = { ...wanted, rev: found.rev + 1 };
    const outcome = await tried(store.compareAndSet(key, found.rev, JSON.stringify(next), null));
    if ("fault" in outcome) return { orders: wanted, restored: null, writeFault: outcome.fault };
    return outcome.kind === "stored" ? { orders: next, restored: "merged", writeFault: null } : null;
  };
  /** @returns null: somebody else was faster. @throws what the store threw while it was read */
  const readOnce = async (known: OrdersRecord): Promise<OrdersRead | null> => {
    const put = await putBack(known);
    if (put === true) return { orders: known, restored: "put-back", writeFault: null };
    const writeFault = put === false ? null : put.fault;
    const found = await find();
    if (found === null) {
      // Gone between the two: it is put back at once.
      const isPutBackNext = known.rev > 0 && writeFault === null;
      return isPutBackNext ? null : { orders: known, restored: null, writeFault };
    }
    const wanted = reconciled(known, found);
    return wanted === found ? { orders: found, restored: null, writeFault } : mend(found, wanted);
  };
  const read = async (known: OrdersRecord): Promise<OrdersRead> => {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const done = await readOnce(known);
      if (done !== null) return done;
    }
    throw contended();
  };

  return {
    read,
    change: async (known, change) => {
      let base = known;
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        const { orders, writeFault } = await read(base);
        if (writeFault !== null) throw writeFault;
        base = orders;
        const next = change(base);
        if (next === base) return base;
        const outcome = await store.compareAndSet(key, base.rev, JSON.stringify(next), null);
        if (outcome.kind === "stored") return next;
      }
      throw contended();
    },
  };
};

const contended = (): OperationalError =>
  new OperationalError("GTM_STORE_UNREACHABLE", `orders changed ${MOST_ATTEMPTS} times while one was written`);

/** A fault is an outcome here: what was read counts although nothing can be written. */
const tried = <Value>(work: Promise<Value>): Promise<Value | { readonly fault: unknown }> =>
  work.catch((fault: unknown) => ({ fault }));

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
