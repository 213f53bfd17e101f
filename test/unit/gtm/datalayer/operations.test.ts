/** Drains as operations in the record of orders: what ends them, and what two records make of one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { drainsOf, withoutOperation } from "#gtm/datalayer/drain-orders.ts";
import {
  mergedOperations,
  settledOperations,
  withOperation,
  withSettled,
  withVerified,
} from "#gtm/datalayer/operations.ts";
import { NO_ORDERS, standingAt, withOrder, withOverride, withoutOrder } from "#gtm/datalayer/orders.ts";
import type { OperationRecord } from "#shared/operation-record.ts";
import type { OrdersRecord, RegionOrder } from "#shared/records.ts";
import { regionId } from "#test/support/builders.ts";

const AT_MS = 1_800_000_000_000;
const PARIS = regionId("paris");
const SCHEDULE = { startsAtMs: AT_MS, endsAtMs: AT_MS + 60_000, steps: [[60_000, 9_000] as [number, number]] };

const anOperation = (id: string, wish: Partial<OperationRecord> = {}): OperationRecord => ({
  ...{ id, mode: "drain-all", override: null, region: "paris", pool: "*", model: "*", tenant: "*" },
  ...{ comment: "driver", actor: "ops", startedAtMs: AT_MS, deadlineAtMs: AT_MS + 60_000 },
  ...{ atStart: { conversations: 3, pinned: 2, tokens: 9_000, isComplete: true }, end: null, changedAtMs: AT_MS },
  ...wish,
});
const anOrder = (wish: Partial<RegionOrder> = {}): RegionOrder => ({
  ...{ region: PARIS, admin: "drain-all", comment: "driver", actor: "ops", orderedAtMs: AT_MS, expiresAtMs: null },
  ...{ schedule: SCHEDULE, operation: "o1" },
  ...wish,
});
const drained = (wish: Partial<RegionOrder> = {}): OrdersRecord =>
  withOperation(withOrder(NO_ORDERS, anOrder(wish)), anOperation("o1"));
const endIn = (orders: OrdersRecord, epochMs: number) => settledOperations(orders, epochMs)[0]?.end ?? null;

describe("the operation of a drained region", () => {
  it("goes on while its order stands", () => {
    assert.equal(endIn(drained(), AT_MS + 1e9), null);
  });
  it("is cancelled by whoever takes the order back", () => {
    const orders = withoutOrder(drained(), { region: PARIS, actor: "next", atMs: AT_MS + 5_000 });
    assert.deepEqual(endIn(orders, AT_MS + 6_000), { how: "cancelled", atMs: AT_MS + 5_000, actor: "next" });
  });
  it("is superseded by another order about the region", () => {
    const orders = withOrder(
      drained(),
      anOrder({ admin: "down", actor: "next", orderedAtMs: AT_MS + 5_000, operation: "o2" }),
    );
    assert.deepEqual(endIn(orders, AT_MS + 6_000), { how: "superseded", atMs: AT_MS + 5_000, actor: "next" });
  });
  it("is superseded still when the order that took its place was taken back, once that was written down", () => {
    const down = withSettled(
      withOrder(drained(), anOrder({ admin: "down", actor: "next", operation: "o2" })),
      AT_MS + 1,
    );
    const up = withoutOrder(down, { region: PARIS, actor: "third", atMs: AT_MS + 9_000 });
    assert.equal(endIn(up, AT_MS + 9_001)?.how, "superseded");
  });
  it("expires with its order, and not before", () => {
    const orders = drained({ expiresAtMs: AT_MS + 10_000 });
    assert.equal(endIn(orders, AT_MS + 9_999), null);
    assert.deepEqual(endIn(orders, AT_MS + 10_000), { how: "expired", atMs: AT_MS + 10_000, actor: null });
    assert.equal(standingAt(orders, AT_MS + 10_000).operations?.[0]?.end?.how, "expired");
  });
  it("is verified empty once, and what comes later does not change that", () => {
    const verified = withVerified(drained(), "o1", AT_MS + 20_000);
    assert.equal(verified.rev, drained().rev + 1);
    const later = withoutOrder(verified, { region: PARIS, actor: "next", atMs: AT_MS + 30_000 });
    assert.deepEqual(endIn(later, AT_MS + 30_001), { how: "verified-empty", atMs: AT_MS + 20_000, actor: null });
    assert.equal(withVerified(verified, "o1", AT_MS + 40_000), verified);
  });
  it("has another version after each change", () => {
    const [before] = settledOperations(drained(), AT_MS);
    const [after] = settledOperations(withVerified(drained(), "o1", AT_MS), AT_MS);
    assert.ok((after?.changedAtMs ?? 0) > (before?.changedAtMs ?? 0));
  });
  it("can be cancelled as it was seen, and not as it no longer is", () => {
    const by = { actor: "next", atMs: AT_MS + 1_000 };
    const cancelled = withoutOperation(drained(), "o1", { ...by, changedAtMs: AT_MS });
    assert.deepEqual(standingAt(cancelled ?? NO_ORDERS, AT_MS + 1_000).regions, []);
    assert.equal(withoutOperation(drained(), "o1", { ...by, changedAtMs: AT_MS + 1 }), null);
    assert.equal(withoutOperation(cancelled ?? NO_ORDERS, "o1", { ...by, changedAtMs: null }), null);
    assert.equal(withoutOperation(drained(), "o9", { ...by, changedAtMs: null }), null);
  });
});

describe("the operation of an override that drains", () => {
  const override = {
    ...{
      id: "o3",
      kind: "drain-all",
      region: "par*",
      pool: "*",
      model: "llama*",
      tenant: "*",
      comment: "c",
      actor: "ops",
    },
    ...{ orderedAtMs: AT_MS, expiresAtMs: AT_MS + 3_600_000, operation: "o3", schedule: SCHEDULE },
  };
  const orders = withOperation(
    withOverride(NO_ORDERS, override),
    anOperation("o3", { override: "o3", region: "par*" }),
  );

  it("is cancelled with it, by whoever does that, and expires with it", () => {
    const cancelled = withoutOperation(orders, "o3", { actor: "next", changedAtMs: null, atMs: AT_MS + 1_000 });
    assert.deepEqual(endIn(cancelled ?? NO_ORDERS, AT_MS + 1_000), {
      ...{ how: "cancelled", atMs: AT_MS + 1_000, actor: "next" },
    });
    assert.equal(endIn(orders, AT_MS + 3_600_000)?.how, "expired");
  });
  it("goes by its schedule", () => {
    assert.deepEqual([...drainsOf(orders).byOverride.keys()], ["o3"]);
    assert.deepEqual([...drainsOf(drained()).byRegion.keys()], ["paris"]);
    assert.equal(drainsOf(withOrder(NO_ORDERS, anOrder({ admin: "down" }))).byRegion.size, 0);
  });
});

describe("two records that went apart", () => {
  it("keep the operations of both, and of one the word said last, whichever is which", () => {
    const ended = withVerified(drained(), "o1", AT_MS + 20_000);
    const other = withOperation(drained(), anOperation("o2", { startedAtMs: AT_MS + 1 }));
    for (const [a, b] of [
      [ended, other],
      [other, ended],
    ] as const) {
      const { operations } = mergedOperations(a, b);
      assert.deepEqual(
        operations?.map(({ id, end }) => [id, end?.how ?? null]),
        [
          ["o1", "verified-empty"],
          ["o2", null],
        ],
      );
    }
    assert.deepEqual(mergedOperations(NO_ORDERS, NO_ORDERS), {});
  });
  it("of many operations keep the latest 32", () => {
    let orders = NO_ORDERS;
    for (let at = 0; at < 40; at++) orders = withOperation(orders, anOperation(`o${at}`));
    assert.deepEqual([orders.operations?.length, orders.operations?.[0]?.id], [32, "o8"]);
  });
});
