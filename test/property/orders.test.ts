/** Laws of the orders: whatever the store loses, and whoever missed what, no order is lost and none that was taken back comes again. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { merged, NO_ORDERS, reconciled, standingAt, withOrder, withoutOrder } from "#gtm/datalayer/orders.ts";
import { createOrdersStore } from "#gtm/datalayer/orders-store.ts";
import { ordersKey } from "#shared/keys.ts";
import { OrdersRecord } from "#shared/records.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 300) };
const GTMS = 3;
const REGIONS = ["frankfurt", "paris", "virginia"];

type Step =
  | { readonly kind: "order"; readonly gtm: number; readonly region: number }
  | { readonly kind: "undo"; readonly gtm: number; readonly region: number }
  | { readonly kind: "read"; readonly gtm: number }
  /** A GTM starts again with what it had saved. */
  | { readonly kind: "restart"; readonly gtm: number }
  | { readonly kind: "wipe" }
  /** A replica takes over that had not heard the last writes. */
  | { readonly kind: "fall-back"; readonly writes: number };

const gtm = fc.nat(GTMS - 1);
const region = fc.nat(REGIONS.length - 1);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("order" as const), gtm, region }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const), gtm, region }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("read" as const), gtm }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("wipe" as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("fall-back" as const), writes: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), gtm }) },
  ),
  { maxLength: 25 },
);

const setUp = () => {
  const clock = createManualClock();
  const store = createMemoryStore(clock);
  const orders = createOrdersStore(store);
  const known: OrdersRecord[] = Array.from({ length: GTMS }, () => NO_ORDERS);
  const past: string[] = [];
  const adopt = (at: number, found: OrdersRecord): void => {
    known[at] = reconciled(known[at] ?? NO_ORDERS, found);
  };
  const remember = async (): Promise<void> => {
    const standing = (await store.get(ordersKey()))?.value;
    if (standing !== undefined && standing !== past.at(-1)) past.push(standing);
  };
  const change = async (at: number, make: (from: OrdersRecord) => OrdersRecord): Promise<void> => {
    clock.advance(1_000);
    adopt(at, await orders.change(known[at] ?? NO_ORDERS, make));
    await remember();
  };
  const atMs = (): number => Math.floor(clock.epochMs());
  return {
    clock,
    store,
    known,
    read: async (at: number) => {
      adopt(at, (await orders.read(known[at] ?? NO_ORDERS)).orders);
      await remember();
    },
    order: (at: number, name: string) =>
      change(at, (from) =>
        withOrder(from, {
          ...{ region: regionId(name), admin: "down", comment: `of gtm ${at}`, actor: "ops" },
          ...{ orderedAtMs: atMs(), expiresAtMs: null },
        }),
      ),
    undo: (at: number, name: string) =>
      change(at, (from) => withoutOrder(from, { region: regionId(name), actor: "ops", atMs: atMs() })),
    wipe: () => store.remove(ordersKey()),
    fallBack: async (writes: number) => {
      const before = past.at(-1 - writes);
      past.splice(-writes);
      if (before === undefined) await store.remove(ordersKey());
      else await store.put(ordersKey(), before, null);
    },
  };
};

type House = ReturnType<typeof setUp>;

/** @param wanted what should stand in the end, by region: it follows each step */
const take = async (step: Step, house: House, wanted: Map<string, string>): Promise<void> => {
  switch (step.kind) {
    case "order": {
      const name = REGIONS[step.region] ?? "";
      await house.order(step.gtm, name);
      wanted.set(name, `of gtm ${step.gtm}`);
      return;
    }
    case "undo": {
      const name = REGIONS[step.region] ?? "";
      await house.read(step.gtm);
      // Who does not know of an order cannot take it back.
      if (standingIn(house.known[step.gtm] ?? NO_ORDERS, house).has(name)) wanted.delete(name);
      return house.undo(step.gtm, name);
    }
    case "read":
      return house.read(step.gtm);
    case "restart":
      house.known[step.gtm] = OrdersRecord.parse(JSON.parse(JSON.stringify(house.known[step.gtm])));
      return;
    case "wipe":
      return house.wipe();
    case "fall-back":
      return house.fallBack(step.writes);
  }
};

const standingIn = (record: OrdersRecord, { clock }: House): ReadonlyMap<string, string> =>
  new Map(standingAt(record, clock.epochMs()).regions.map((one) => [one.region, one.comment]));

describe("orders of three GTMs on a store that loses its writes", () => {
  it("are all known to all in the end: of each region the last that was ordered or taken back by one who knew", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const house = setUp();
        const wanted = new Map<string, string>();
        for (const step of list) await take(step, house, wanted);
        for (let at = 0; at < 2 * GTMS; at++) await house.read(at % GTMS);
        const stored = await house.store.get(ordersKey());
        const records = [...house.known, ...(stored === null ? [] : [OrdersRecord.parse(JSON.parse(stored.value))])];
        for (const record of records) {
          assert.deepEqual(standingIn(record, house), new Map([...wanted].sort(([a], [b]) => (a < b ? -1 : 1))));
        }
      }),
      runs,
    );
  });
});

const record: fc.Arbitrary<OrdersRecord> = fc
  .array(fc.record({ region, atMs: fc.integer({ min: 1, max: 50 }), isUndo: fc.boolean() }), { maxLength: 6 })
  .map((list) =>
    list.reduce<OrdersRecord>((from, { region: at, atMs, isUndo }) => {
      const name = regionId(REGIONS[at] ?? "");
      if (isUndo) return withoutOrder(from, { region: name, actor: "ops", atMs });
      return withOrder(from, {
        ...{ region: name, admin: "down", comment: String(atMs), actor: "ops", orderedAtMs: atMs, expiresAtMs: null },
      });
    }, NO_ORDERS),
  );

describe("two records that went apart", () => {
  it("become the same record, whichever comes first, and merging again changes nothing of what they say", () => {
    fc.assert(
      fc.property(record, record, (a, b) => {
        const one = merged(a, b);
        assert.deepEqual(one, merged(b, a));
        assert.deepEqual(merged(one, a).regions, one.regions);
        assert.equal(reconciled(a, one), one);
        assert.equal(reconciled(b, one), one);
      }),
      runs,
    );
  });
});
