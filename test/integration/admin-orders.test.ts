/** Orders about regions at the admin API: previewed, given, taken back, refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OrderWish } from "#gtm/wire/admin/ports.ts";
import { aRegion } from "#test/support/builders.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DRAIN = { mode: "drain-all", comment: "driver update", for: "2h" };

describe("an order", () => {
  it("with dry_run=true is a plan and changes nothing", async () => {
    await using admin = await runningAdmin();
    const { orders, world } = admin.gtm.state;
    const { status, body, headers } = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", { body: DRAIN });
    assert.equal(status, 200);
    assert.deepEqual([body.from, body.to, body.expiresInMs], ["active", "drain-all", 7_200_000]);
    assert.deepEqual(body.nextTurns, [
      { region: "frankfurt", before: 1, after: 0 },
      { region: "paris", before: 0, after: 1 },
    ]);
    assert.equal(headers.get("etag"), body.etag);
    assert.equal(admin.gtm.state.orders, orders);
    assert.equal(admin.gtm.state.world, world);
  });

  it("is kept with its comment and expiry, and the answer shows it at once", async () => {
    await using admin = await runningAdmin();
    const { status, body, headers } = await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN });
    assert.equal(status, 200);
    assert.deepEqual([body.admin, body.takesNew, body.keepsHeld], ["drain-all", false, false]);
    assert.deepEqual([body.order.comment, body.order.expiresAt], ["driver update", "2026-11-30T06:00:00.000Z"]);
    assert.equal((await admin.ask("GET", "/regions/frankfurt")).headers.get("etag"), headers.get("etag"));
    const [order] = admin.gtm.ports.orders.current().regions;
    assert.equal(order?.expiresAtMs, admin.gtm.clock.epochMs() + 7_200_000);
  });

  it("is taken back by the verb that belongs to it", async () => {
    await using admin = await runningAdmin();
    for (const [verb, back, body] of [
      ["drain", "undrain", DRAIN],
      ["down", "up", { comment: "x" }],
    ] as const) {
      assert.notEqual((await admin.ask("POST", `/regions/frankfurt/${verb}`, { body })).body.admin, "active");
      assert.equal((await admin.ask("POST", `/regions/frankfurt/${back}`, { body: {} })).body.admin, "active");
      assert.deepEqual(admin.gtm.ports.orders.current().regions, []);
    }
  });

  it("is not taken back by another verb: drain is not down", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN });
    const up = await admin.ask("POST", "/regions/frankfurt/up", { body: {} });
    assert.deepEqual([up.status, up.body.code, up.body.admin], [409, "state-conflict", "drain-all"]);
    assert.equal(up.body.rule, undefined);
    await admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "x" } });
    assert.equal((await admin.ask("POST", "/regions/frankfurt/undrain", { body: {} })).status, 409);
    assert.equal((await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN })).status, 409);
  });

  it("that expired counts no longer", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "x", for: "1h" } });
    admin.gtm.clock.pass(3_600_000);
    const plan = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", { body: DRAIN });
    assert.equal(plan.body.from, "active");
  });

  it("that forces a region up ignores its health, with a comment", async () => {
    await using admin = await runningAdmin({
      regions: [aRegion("frankfurt", { health: "unhealthy" }), aRegion("paris")],
    });
    assert.equal((await admin.ask("POST", "/regions/frankfurt/up", { body: { forced: true } })).status, 400);
    const { body } = await admin.ask("POST", "/regions/frankfurt/up", {
      body: { forced: true, comment: "probe is wrong" },
    });
    assert.deepEqual([body.admin, body.takesNew], ["forced-up", true]);
  });

  it("to take back what was never ordered changes nothing and needs no store", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.isStoreAway = true;
    const { status, body } = await admin.ask("POST", "/regions/frankfurt/undrain", { body: {} });
    assert.deepEqual([status, body.admin], [200, "active"]);
    assert.equal(admin.gtm.state.orders.rev, 0);
  });
});

describe("an order that would leave a model without any region", () => {
  const LONELY = { regions: [aRegion("frankfurt"), aRegion("singapore", { placement: null })] };
  for (const [verb, body] of [
    ["drain", { mode: "drain-new", comment: "x" }],
    ["drain", DRAIN],
    ["down", { comment: "x" }],
  ] as const) {
    it(`(${verb} ${"mode" in body ? body.mode : ""}) is refused by minRegionsPerModel, whose name passes it`, async () => {
      await using admin = await runningAdmin(LONELY);
      const refused = await admin.ask("POST", `/regions/frankfurt/${verb}`, { body });
      assert.deepEqual(
        [refused.status, refused.body.code, refused.body.rule],
        [409, "safety-rule", "minRegionsPerModel"],
      );
      assert.match(refused.body.detail, /^llama-70b of pool chat would have no region/);
      assert.deepEqual(admin.gtm.ports.orders.current().regions, []);

      const plan = await admin.ask("POST", `/regions/frankfurt/${verb}?dry_run=true`, { body });
      assert.deepEqual([plan.status, plan.body.violations[0].rule], [200, "minRegionsPerModel"]);

      const passed = await admin.ask("POST", `/regions/frankfurt/${verb}?override_rule=minRegionsPerModel`, { body });
      assert.equal(passed.status, 200);
      assert.ok(admin.lines.some(({ level, event }) => level === "warn" && event === "region.rule-overridden"));
    });
  }
  it("is refused for a rule that there is not, too", async () => {
    await using admin = await runningAdmin(LONELY);
    const { status } = await admin.ask("POST", "/regions/frankfurt/down?override_rule=all", { body: { comment: "x" } });
    assert.equal(status, 400);
  });
});

describe("two people who order at the same time", () => {
  it("the second one, who decided by an older plan, is refused with 412", async () => {
    await using admin = await runningAdmin();
    const plan = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", { body: DRAIN });
    await admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "power" } });
    const headers = { "if-match": plan.body.etag };
    const { status, body } = await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN, headers });
    assert.equal(status, 412);
    assert.match(body.detail, /it is down now/);
    assert.equal(admin.gtm.ports.orders.current().regions[0]?.admin, "down");
  });
  for (const verb of ["drain", "undrain"] as const) {
    it(`is refused as well where the first one orders while the plan is made, with ${verb}`, async () => {
      await using admin = await runningAdmin();
      const { orders } = admin.gtm.ports;
      const { order, undo } = orders;
      if (verb === "undrain") await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN });
      const { headers: seen } = await admin.ask("GET", "/regions/frankfurt");
      // Another GTM is faster by as little as can be: the store alone can tell.
      const down: OrderWish = {
        ...{ region: aRegion("frankfurt").id, admin: "down", comment: "power", actor: "bob" },
        ...{ expiresAtMs: null, schedule: null, operation: null },
      };
      Object.assign(orders, {
        order: async (...wish: Parameters<typeof order>) => order(down).then(() => order(...wish)),
        undo: async (...wish: Parameters<typeof undo>) => order(down).then(() => undo(...wish)),
      });
      admin.gtm.clock.pass(1);
      const body = verb === "drain" ? DRAIN : {};
      const headers = { "if-match": seen.get("etag") ?? "" };
      const answer = await admin.ask("POST", `/regions/frankfurt/${verb}`, { body, headers });
      assert.deepEqual([answer.status, answer.body.code], [412, "precondition-failed"]);
      assert.match(answer.body.detail, /it is down now/);
      assert.equal(orders.current().regions[0]?.admin, "down");
    });
  }
  it("one whose plan still holds is not", async () => {
    await using admin = await runningAdmin();
    const plan = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", { body: DRAIN });
    const headers = { "if-match": plan.body.etag };
    assert.equal((await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN, headers })).status, 200);
  });
});

describe("while the store is away", () => {
  it("orders and plans are 503, and nothing is changed", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.isStoreAway = true;
    for (const path of ["/regions/frankfurt/drain", "/regions/frankfurt/drain?dry_run=true"]) {
      const { status, body } = await admin.ask("POST", path, { body: DRAIN });
      assert.deepEqual([status, body.code], [503, "store-unreachable"]);
    }
    assert.deepEqual(admin.gtm.ports.orders.current().regions, []);
  });
});

describe("while the store refuses what is written", () => {
  it("orders are 503 with what it says, and nothing is changed", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.refusal = "OOM command not allowed";
    const { status, body } = await admin.ask("POST", "/regions/paris/drain", {
      body: { mode: "drain-new", comment: "x" },
    });
    assert.deepEqual([status, body.code, body.cause], [503, "store-refused", "GTM_STORE_REFUSED"]);
    assert.match(body.detail, /^Nothing was changed\. The store would not: OOM command not allowed\.$/);
    assert.deepEqual(admin.gtm.ports.orders.current().regions, []);
  });
});

describe("a mutation", () => {
  for (const path of ["/regions/paris/drain", "/regions/paris/undrain", "/regions/paris/down", "/regions/paris/up"]) {
    it(`by GET ${path} is 405 and names the method`, async () => {
      await using admin = await runningAdmin();
      const { status, headers } = await admin.ask("GET", path);
      assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
      assert.equal(admin.gtm.state.orders.rev, 0);
    });
  }
  for (const type of [
    "application/x-www-form-urlencoded",
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/jsonx",
  ]) {
    it(`as ${type}, which a foreign page could send, is 415`, async () => {
      await using admin = await runningAdmin();
      const headers = { "content-type": type };
      const { status, body } = await admin.ask("POST", "/regions/paris/down", { body: '{"comment":"x"}', headers });
      assert.deepEqual([status, body.code], [415, "unsupported-media-type"]);
      assert.equal(admin.gtm.state.orders.rev, 0);
    });
  }
  it("without a content type is 415", async () => {
    await using admin = await runningAdmin();
    assert.equal((await admin.ask("POST", "/regions/paris/undrain")).status, 415);
  });
});
