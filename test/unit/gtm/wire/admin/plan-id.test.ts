/** The name of a plan: valid for five minutes, for one order, while orders and regions are as they were. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PlanId, planIdOf, requirePlan } from "#gtm/wire/admin/plan-id.ts";
import { ProblemError } from "#gtm/wire/admin/problem.ts";
import type { OrdersRecord } from "#shared/records.ts";
import { aRegion, regionId } from "#test/support/builders.ts";
import { EPOCH_MS } from "./fake-ports.ts";

const orders: OrdersRecord = { v: 1, rev: 4, regions: [], overrides: [] };
const basis = { wish: ["drain", "paris"], orders, regions: [aRegion("frankfurt"), aRegion("paris")] };
const id = planIdOf(basis, EPOCH_MS);
const changed = (now: typeof basis, passedMs = 1_000): unknown => {
  try {
    requirePlan(id, now, EPOCH_MS + passedMs);
    return [];
  } catch (error) {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.problem.status, 412);
    return error.problem["changed"];
  }
};

describe("the id of a plan", () => {
  it("holds while nothing changed, and is one that the API takes", () => {
    assert.deepEqual(changed(basis), []);
    assert.equal(PlanId.parse(id), id);
    requirePlan(null, basis, EPOCH_MS);
  });
  it("holds for five minutes", () => {
    assert.deepEqual(changed(basis, 300_000), []);
    assert.deepEqual(changed(basis, 300_001), ["it is over 5 minutes old"]);
  });
  it("is of one order", () => {
    assert.deepEqual(changed({ ...basis, wish: ["drain", "frankfurt"] }), ["it is of another order"]);
  });
  it("says that somebody ordered something else, and does not mind what is written down beside orders", () => {
    const order = {
      ...{
        region: regionId("paris"),
        admin: "down" as const,
        comment: "c",
        actor: "a",
        orderedAtMs: 1,
        expiresAtMs: null,
      },
    };
    assert.deepEqual(changed({ ...basis, orders: { ...orders, rev: 5, regions: [order] } }), [
      "somebody ordered something else",
    ]);
    assert.deepEqual(changed({ ...basis, orders: { ...orders, rev: 5 } }), []);
  });
  it("names each region that serves otherwise than it did, and does not mind a degraded one", () => {
    const regionsOf = (health: "degraded" | "silent") => [aRegion("frankfurt"), aRegion("paris", { health })];
    assert.deepEqual(changed({ ...basis, regions: regionsOf("degraded") }), []);
    assert.deepEqual(changed({ ...basis, regions: regionsOf("silent") }), ["paris is active and silent now"]);
    assert.deepEqual(changed({ ...basis, regions: [aRegion("paris")] }), ["other regions are configured"]);
  });
  it("is refused as malformed where it is none", () => {
    for (const text of ["", "p1", "p2-xxxxxxxx-000000000000-000000000000-", `${id}!`]) {
      assert.equal(PlanId.safeParse(text).success, false, text);
    }
  });
});
