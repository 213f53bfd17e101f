/** What people ordered survives restarts, reaches every GTM, and expires. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createOperatorState, type OrderWish } from "#gtm/datalayer/operator-state.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { ordersKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { OrdersRecord } from "#shared/records.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { regionId } from "#test/support/builders.ts";
import { createFallibleStore, type FallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const running: { readonly stop: () => Promise<void> }[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

const gtm = async (store: FallibleStore, clock: Clock) => {
  const log = recordingLog();
  const metrics = createMetrics();
  const degradations = createDegradations({ clock, log: recordingLog(), metrics });
  const changes = { count: 0, wiped: 0 };
  const state = createOperatorState({
    ...{ store, clock, log, degradations, failures: createStoreFailures({ log, clock, metrics }) },
    onChanged: () => {
      changes.count += 1;
    },
    onWiped: () => {
      changes.wiped += 1;
    },
  });
  running.push(state);
  await state.start();
  return Object.assign(state, { log, changes, degradations });
};
const setUp = async () => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  return { clock, store, state: await gtm(store, clock) };
};
const drain = (region: string, wish: Partial<OrderWish> = {}): OrderWish => ({
  ...{ region: regionId(region), admin: "drain-all", comment: "maintenance", actor: "ops", expiresAtMs: null },
  ...wish,
});
const admins = (state: { admin: () => ReadonlyMap<string, string> }) => Object.fromEntries(state.admin());
const stored = async (store: FallibleStore): Promise<OrdersRecord> =>
  OrdersRecord.parse(JSON.parse((await store.get(ordersKey()))?.value ?? "null"));

describe("an order", () => {
  it("holds at once, is stored with comment, actor and time, and is told of", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    assert.deepEqual(admins(state), { paris: "drain-all" });
    assert.equal(state.changes.count, 1);
    assert.deepEqual((await stored(store)).regions, [{ ...drain("paris"), orderedAtMs: clock.epochMs() }]);
    assert.equal(state.log.lines.at(-1)?.event, "order.placed");
  });
  it("replaces the one before it", async () => {
    const { state } = await setUp();
    await state.order(drain("paris"));
    const orders = await state.order(drain("paris", { admin: "down" }));
    assert.deepEqual(
      orders.regions.map(({ admin }) => admin),
      ["down"],
    );
  });
  it("is taken back, and taking back nothing does nothing", async () => {
    const { state } = await setUp();
    await state.order(drain("paris"));
    await state.undo(regionId("virginia"), "ops");
    assert.deepEqual(admins(state), { paris: "drain-all" });
    await state.undo(regionId("paris"), "ops");
    assert.deepEqual(admins(state), {});
  });
  it("expires by the time of day, without anybody doing anything, and is gone from the store a day later", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris", { expiresAtMs: clock.epochMs() + 60_000 }));
    clock.advance(59_999);
    assert.deepEqual(admins(state), { paris: "drain-all" });
    clock.advance(1);
    assert.deepEqual(admins(state), {});
    await state.order(drain("singapore", { expiresAtMs: clock.epochMs() + 1 }));
    clock.advance(86_400_000);
    await state.order(drain("virginia"));
    assert.deepEqual(
      (await stored(store)).regions.map(({ region }) => region),
      ["singapore", "virginia"],
    );
  });
  it("is refused while the store is away, and nothing has changed", async () => {
    const { state, store } = await setUp();
    store.isAway = true;
    await assert.rejects(
      state.order(drain("paris")),
      (fault) => fault instanceof OperationalError && fault.code === "GTM_STORE_UNREACHABLE",
    );
    assert.deepEqual(admins(state), {});
  });
});

describe("several GTMs", () => {
  it("hear of each other's orders", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    await state.order(drain("paris"));
    await until(() => other.admin().size === 1);
    assert.equal(other.changes.count, 1);
  });
  it("lose none when they order at the same moment", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    await Promise.all([state.order(drain("paris")), other.order(drain("virginia")), state.order(drain("singapore"))]);
    assert.deepEqual(
      (await stored(store)).regions.map(({ region }) => region),
      ["paris", "singapore", "virginia"],
    );
    assert.equal((await stored(store)).rev, 3);
  });
  it("know what was ordered before they started", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    assert.deepEqual(admins(await gtm(store, clock)), { paris: "drain-all" });
  });
  it("reload every 2 s, should the announcement be lost", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval"] });
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    store.before = (operation) => {
      if (operation === "announce") throw new OperationalError("GTM_STORE_UNREACHABLE", "lost on the way");
    };
    await state.order(drain("paris"));
    assert.deepEqual(admins(state), { paris: "drain-all" });
    assert.equal(state.log.lines.find(({ event }) => event === "store.failed")?.fields["operation"], "orders.announce");
    assert.equal(other.admin().size, 0);
    test.mock.timers.tick(2_000);
    await until(() => other.admin().size === 1);
  });
});

describe("a store that lost the orders", () => {
  it("gets them back from whoever knows them", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    await store.remove(ordersKey());
    await state.order(drain("virginia"));
    assert.deepEqual(
      (await stored(store)).regions.map(({ region }) => region),
      ["paris", "virginia"],
    );
    await store.remove(ordersKey());
    await gtm(store, clock);
    assert.equal(await store.get(ordersKey()), null, "a GTM that knows of none puts none back");
  });
  it("gets them back beside what was ordered since by one who did not know them", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    await state.order(drain("singapore"));
    await store.remove(ordersKey());
    await (await gtm(store, clock)).order(drain("virginia"));
    await until(async () => (await stored(store)).regions.length === 1);
    await state.order(drain("singapore", { admin: "down" }));
    const record = await stored(store);
    assert.deepEqual(
      record.regions.map(({ region, admin }) => [region, admin]),
      [
        ["paris", "drain-all"],
        ["singapore", "down"],
        ["virginia", "drain-all"],
      ],
    );
    assert.ok(record.rev > 2);
  });
});

describe("a record that is none", () => {
  it("is left alone, and said so as a warning; what is known stands", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    const broken = '{"v":1,"rev":9,"regions":"all"}';
    await store.put(ordersKey(), broken, null);
    const other = await gtm(store, clock);
    assert.deepEqual(
      other.log.lines.map(({ level, event, fields }) => [level, event, fields["operation"]]),
      [["warn", "store.failed", "orders.read"]],
    );
    assert.equal((await store.get(ordersKey()))?.value, broken);
    await assert.rejects(
      state.order(drain("virginia")),
      (fault) => fault instanceof OperationalError && fault.code === "GTM_RECORD_REFUSED",
    );
    assert.deepEqual(admins(state), { paris: "drain-all" });
  });
});
