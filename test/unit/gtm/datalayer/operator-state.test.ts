/** What people ordered survives restarts, reaches every GTM, and expires. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import type { OrderWish } from "#gtm/datalayer/operator-port.ts";
import { createOperatorState } from "#gtm/datalayer/operator-state.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { ordersKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { OrdersRecord, type Override } from "#shared/records.ts";
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
  ...{ schedule: null, operation: null },
  ...wish,
});
const deny = (id: string, wish: Partial<Override> = {}): Override => ({
  ...{ id, kind: "deny", region: "paris", pool: "*", model: "*", tenant: "acme", comment: "contract", actor: "ops" },
  ...{ orderedAtMs: 1, expiresAtMs: HOUR_MS * 1_000_000 },
  ...wish,
});
const HOUR_MS = 3_600_000;
const admins = (state: { admin: () => ReadonlyMap<string, string> }) => Object.fromEntries(state.admin());
const stored = async (store: FallibleStore): Promise<OrdersRecord> =>
  OrdersRecord.parse(JSON.parse((await store.get(ordersKey()))?.value ?? "null"));

describe("an order", () => {
  it("holds at once, is stored with comment, actor and time, and is told of", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    assert.deepEqual(admins(state), { paris: "drain-all" });
    assert.equal(state.changes.count, 1);
    const { schedule, operation, ...said } = drain("paris");
    assert.deepEqual([schedule, operation], [null, null]);
    assert.deepEqual((await stored(store)).regions, [{ ...said, orderedAtMs: clock.epochMs() }]);
    assert.equal(state.log.lines.at(-1)?.event, "order.placed");
  });
  it("replaces the one before it", async () => {
    const { state } = await setUp();
    await state.order(drain("paris"));
    const orders = await state.order(drain("paris", { admin: "down" }));
    assert.deepEqual(
      orders?.regions.map(({ admin }) => admin),
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
  it("is given or taken back only where the store has what was seen, if somebody says what", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    const { announce } = store;
    Object.assign(store, { announce: async () => {} });
    const seenAtMs = (await other.order(drain("paris", { admin: "down" })))?.regions[0]?.orderedAtMs ?? 0;
    assert.deepEqual(admins(state), {});
    assert.equal(await state.order(drain("paris"), 0), null);
    assert.equal(await state.undo(regionId("paris"), "ops", seenAtMs - 1), null);
    Object.assign(store, { announce });
    // What it could not change it has heard of.
    assert.deepEqual(admins(state), { paris: "down" });
    assert.deepEqual((await stored(store)).rev, 1);
    assert.ok(!state.log.lines.some(({ event }) => event === "order.placed" || event === "order.undone"));
    assert.notEqual(await state.undo(regionId("paris"), "ops", seenAtMs), null);
    assert.notEqual(await state.order(drain("paris"), 0), null);
    assert.deepEqual(admins(state), { paris: "drain-all" });
  });
  it("of two by what both saw, given at once at two GTMs, is taken once", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    const taken = await Promise.all([
      state.order(drain("paris"), 0),
      other.order(drain("paris", { admin: "down" }), 0),
    ]);
    assert.deepEqual(taken.map((one) => one === null).sort(), [false, true]);
  });
  it("that is over counts as nothing that stands", async () => {
    const { state, clock } = await setUp();
    await state.order(drain("paris", { expiresAtMs: clock.epochMs() + 1 }));
    clock.advance(1);
    assert.notEqual(await state.order(drain("paris"), 0), null);
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

describe("two GTMs of which one missed the last order when the store died", () => {
  it("both know it in the end, also where the other puts its own back first and goes on ordering", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    await state.order(drain("paris"));
    await until(() => other.admin().size === 1);
    // The other hears nothing of this one, and never reads it.
    store.fault = (operation) => (operation === "announce" ? "lost" : null);
    await state.order(drain("virginia"));
    store.fault = () => null;
    await store.remove(ordersKey());
    await other.order(drain("singapore"));
    clock.advance(1);
    await other.order(drain("singapore", { admin: "down" }));
    await until(() => state.admin().size === 3 && other.admin().size === 3);
    for (const one of [state, other]) {
      assert.deepEqual(admins(one), { paris: "drain-all", singapore: "down", virginia: "drain-all" });
    }
    assert.deepEqual(
      (await stored(store)).regions.map(({ region }) => region),
      ["paris", "singapore", "virginia"],
    );
  });
  it("do not bring again what was taken back meanwhile", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    await state.order(drain("paris"));
    await until(() => other.admin().size === 1);
    const old = await store.get(ordersKey());
    clock.advance(1);
    await state.undo(regionId("paris"), "ops");
    // A replica takes over that had not heard of it.
    await store.put(ordersKey(), old?.value ?? "", null);
    await until(() => other.admin().size === 0);
    await until(async () => (await stored(store)).regions.every(({ admin }) => admin === "active"));
    assert.deepEqual(admins(state), {});
  });
});

describe("a store that was wiped", () => {
  it("has the orders again within a second, whoever knows them, and is said to have been wiped", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval"] });
    const { state, store } = await setUp();
    await state.order(drain("paris"));
    await store.remove(ordersKey());
    test.mock.timers.tick(1_000);
    await until(async () => (await store.get(ordersKey())) !== null);
    assert.deepEqual(
      (await stored(store)).regions.map(({ region }) => region),
      ["paris"],
    );
    await until(() => state.changes.wiped === 1);
    assert.ok(state.log.lines.some(({ level, event }) => level === "warn" && event === "orders.restored"));
  });
  it("gets what an earlier process knew and this one never read", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    const record = JSON.parse(JSON.stringify(state.record()));
    await state.stop();
    await store.remove(ordersKey());
    const next = createOperatorState({
      ...{ store, clock, log: recordingLog(), failures: () => {}, degradations: { set: () => {} } },
      onChanged: () => {},
      onWiped: () => {},
    });
    running.push(next);
    next.restore(record);
    assert.deepEqual(admins(next), { paris: "drain-all" }, "before the store was asked");
    await next.start();
    assert.deepEqual(await stored(store), record);
  });
  it("is not given what an earlier process knew where others have taken it back since", async () => {
    const { state, store, clock } = await setUp();
    await state.order(drain("paris"));
    const record = JSON.parse(JSON.stringify(state.record()));
    clock.advance(1);
    await state.undo(regionId("paris"), "ops");
    // The record of what was taken back is long gone.
    clock.advance(3 * 86_400_000);
    await state.order(drain("virginia"));
    const next = createOperatorState({
      ...{ store, clock, log: recordingLog(), failures: () => {}, degradations: { set: () => {} } },
      onChanged: () => {},
      onWiped: () => {},
    });
    running.push(next);
    next.restore(record);
    await next.start();
    assert.deepEqual(admins(next), { virginia: "drain-all" });
  });
});

describe("orders that cannot be written", () => {
  const refusing = (operation: string, key: string) =>
    key === ordersKey() && ["setIfAbsent", "compareAndSet"].includes(operation) ? "refused" : null;

  it("are refused with the reason, read as before, and said to be degraded without anybody ordering", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval"] });
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    await state.order(drain("paris"));
    await until(() => other.admin().size === 1);
    store.fault = refusing;
    test.mock.timers.tick(1_000);
    const whats = () => other.degradations.current().map(({ what }) => what);
    await until(() => whats().includes("orders"));
    assert.match(other.degradations.current()[0]?.reason ?? "", /^orders are refused: .*not done/);
    await assert.rejects(
      other.order(drain("virginia")),
      (fault) => fault instanceof OperationalError && fault.code === "GTM_STORE_REFUSED",
    );
    assert.deepEqual(admins(other), { paris: "drain-all" });
    store.fault = () => null;
    test.mock.timers.tick(1_000);
    await until(() => whats().length === 0);
    await other.order(drain("virginia"));
    await until(() => state.admin().size === 2);
  });
  it("are degraded too while they cannot be read", async (test) => {
    test.mock.timers.enable({ apis: ["setInterval"] });
    const { state, store } = await setUp();
    await state.order(drain("paris"));
    store.isAway = true;
    test.mock.timers.tick(1_000);
    await until(() => state.degradations.current().length === 1);
    assert.deepEqual(admins(state), { paris: "drain-all" });
    store.isAway = false;
    test.mock.timers.tick(1_000);
    await until(() => state.degradations.current().length === 0);
  });
});

describe("a clock that is set by an hour", () => {
  for (const jumpMs of [3_600_000, -3_600_000]) {
    it(`loses no order (${jumpMs / 60_000} min), also where somebody orders meanwhile`, async () => {
      const { state, store, clock } = await setUp();
      await state.order(drain("paris", { expiresAtMs: clock.epochMs() + 1_800_000 }));
      const right = clock.epochMs();
      clock.setEpochMs(right + jumpMs);
      await state.order(drain("virginia"));
      await state.order(drain("virginia", { admin: "down" }));
      clock.setEpochMs(right);
      assert.deepEqual(admins(state), { paris: "drain-all", virginia: "down" });
      await state.order(drain("virginia", { admin: "drain-new" }));
      assert.deepEqual(admins(await gtm(store, clock)), { paris: "drain-all", virginia: "drain-new" });
    });
  }
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

describe("an override", () => {
  it("reaches the world of every GTM on the store, and ends by itself", async () => {
    const { state, store, clock } = await setUp();
    const other = await gtm(store, clock);
    await state.override(deny("o1", { orderedAtMs: clock.epochMs(), expiresAtMs: clock.epochMs() + HOUR_MS }), null);
    const rule = { id: "o1", kind: "deny", region: "paris", pool: "*", model: "*", tenant: "acme" };
    assert.deepEqual(state.overrides(), [rule]);
    await until(() => other.overrides().length === 1, "the other GTM to hear of it");
    assert.deepEqual(other.overrides(), [rule]);
    clock.advance(HOUR_MS);
    assert.deepEqual([state.overrides(), other.overrides()], [[], []]);
  });
  it("of a kind that this version does not know is kept for those that do, passed over, and told of", async () => {
    const { store, clock, state } = await setUp();
    const ends = { orderedAtMs: clock.epochMs(), expiresAtMs: clock.epochMs() + HOUR_MS };
    const later = { ...deny("o1", ends), kind: "mirror", into: "virginia" };
    await store.compareAndSet(ordersKey(), 0, JSON.stringify({ v: 1, rev: 1, regions: [], overrides: [later] }), null);
    const reader = await gtm(store, clock);
    assert.deepEqual(reader.overrides(), []);
    assert.deepEqual(
      reader.degradations.current().map(({ what, reason }) => [what, reason]),
      [["orders", "overrides of a later version are passed over here: o1 (mirror)"]],
    );
    await reader.override(deny("o2", ends), null);
    assert.deepEqual(
      (await stored(store)).overrides.map(({ kind, into }) => [kind, into]),
      [
        ["mirror", "virginia"],
        ["deny", undefined],
      ],
    );
    await until(() => state.overrides().length === 1, "the other GTM to hear of the one that it knows");
    clock.advance(HOUR_MS);
    await reader.order(drain("virginia"));
    assert.deepEqual(reader.degradations.current(), []);
  });
  it("is changed as it was seen, or not at all", async () => {
    const { state, clock } = await setUp();
    const expiresAtMs = clock.epochMs() + HOUR_MS;
    await state.override(deny("o1", { orderedAtMs: clock.epochMs(), expiresAtMs, kind: "share", share: 0.2 }), null);
    const [seen] = state.current().overrides;
    const change = { actor: "next", comment: null, expiresAtMs, share: 0.4, seenAtMs: seen?.orderedAtMs ?? 0 };
    assert.equal((await state.changeOverride("o1", change))?.overrides[0]?.share, 0.4);
    assert.equal(await state.changeOverride("o1", { ...change, share: 0.6 }), null);
    assert.equal(state.current().overrides[0]?.share, 0.4);
  });
  it("of the kind share says of how much", async () => {
    const { state, clock } = await setUp();
    const ends = { orderedAtMs: clock.epochMs(), expiresAtMs: clock.epochMs() + HOUR_MS };
    await state.override(deny("o1", { ...ends, kind: "share", share: 0.2 }), null);
    const rule = { id: "o1", region: "paris", pool: "*", model: "*", tenant: "acme", kind: "share", share: 0.2 };
    assert.deepEqual(state.overrides(), [rule]);
  });
  it("can be extended, and cancelled, and what does not stand can be neither", async () => {
    const { state, clock } = await setUp();
    await state.override(deny("o1", { orderedAtMs: clock.epochMs(), expiresAtMs: clock.epochMs() + HOUR_MS }), null);
    clock.advance(HOUR_MS / 2);
    const extended = { actor: "next", comment: null, expiresAtMs: clock.epochMs() + HOUR_MS };
    const unseen = { share: null, seenAtMs: null };
    const after = await state.changeOverride("o1", { ...extended, ...unseen });
    assert.deepEqual(
      after?.overrides.map(({ actor, comment, expiresAtMs }) => ({ actor, comment, expiresAtMs })),
      [{ ...extended, comment: "contract" }],
    );
    await state.changeOverride("o1", { ...extended, ...unseen, expiresAtMs: clock.epochMs() });
    assert.deepEqual(state.overrides(), []);
    assert.equal(await state.changeOverride("o1", { ...extended, ...unseen }), null);
  });
  it("that was cancelled is not brought again by a GTM that was cut off meanwhile", async () => {
    const { state, store, clock } = await setUp();
    await state.override(deny("o1", { orderedAtMs: clock.epochMs(), expiresAtMs: clock.epochMs() + HOUR_MS }), null);
    const before = state.record();
    clock.advance(1_000);
    await state.changeOverride("o1", {
      ...{ actor: "ops", comment: null, expiresAtMs: clock.epochMs(), share: null, seenAtMs: null },
    });
    const late = await gtm(store, clock);
    late.restore({ ...before, rev: before.rev + 5 });
    await late.order(drain("virginia"));
    assert.deepEqual([late.overrides(), (await stored(store)).overrides.length], [[], 1]);
  });
});
