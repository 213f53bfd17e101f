/** May this actor do this to that? As a table. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Deed, deedOfOverride, denial, regionsSeen, seesOverride, suffices } from "#gtm/wire/admin/access.ts";
import type { Actor } from "#gtm/wire/admin/auth.ts";
import { deedOf, needOf, routeFor, UNDECLARED } from "#gtm/wire/admin/route-needs.ts";
import { scopeOf, type Wished } from "#gtm/wire/admin/scope.ts";
import type { Role } from "#gtm/wire/admin/tokens-file.ts";
import { PoolName } from "#shared/ids.ts";
import { aPool, aRegion } from "#test/support/builders.ts";

const actor = (role: Role, scope: Wished = {}): Actor => ({
  ...{ name: "alice", role, by: "token", tokenId: "tk-1", names: null, expiresAtMs: null },
  scope: scopeOf(scope),
});

describe("a role", () => {
  it("may do what it and the roles before it may; acme is no step on the way", () => {
    const roles: readonly Role[] = ["viewer", "operator", "admin", "acme"];
    const table = roles.map((role) => roles.map((needed) => suffices({ role }, needed)));
    assert.deepEqual(table, [
      [true, false, false, false],
      [true, true, false, false],
      [true, true, true, true],
      [false, false, false, true],
    ]);
  });
});

const traffic = (region: string, pool: string, tenant: string): Deed => ({
  ...{ kind: "order-traffic", region, pool, tenant },
});
const order = (region: string): Deed => ({ kind: "order-region", region });
const ANY: Deed = { kind: "any" };
const SEE: Deed = { kind: "see-whole" };
const CHANGE: Deed = { kind: "change-whole" };
const handOut = (scope: Wished): Deed => ({ kind: "hand-out", scope: scopeOf(scope) });

describe("an actor", () => {
  const EU = { regions: ["eu-*"] };
  const CHAT = { pools: ["chat"] };
  const ACME = { tenants: ["acme*"] };
  const cases: readonly { role: Role; scope: Wished; needs: Role; deed: Deed; missing: string | null }[] = [
    { role: "viewer", scope: {}, needs: "viewer", deed: SEE, missing: null },
    { role: "viewer", scope: {}, needs: "operator", deed: order("eu-1"), missing: "role" },
    { role: "viewer", scope: EU, needs: "viewer", deed: SEE, missing: null },
    { role: "viewer", scope: CHAT, needs: "viewer", deed: SEE, missing: "pools" },
    { role: "viewer", scope: ACME, needs: "viewer", deed: SEE, missing: "tenants" },
    { role: "viewer", scope: ACME, needs: "viewer", deed: ANY, missing: null },
    { role: "operator", scope: EU, needs: "operator", deed: order("eu-central"), missing: null },
    { role: "operator", scope: EU, needs: "operator", deed: order("us-east"), missing: "regions" },
    { role: "operator", scope: CHAT, needs: "operator", deed: order("eu-central"), missing: "pools" },
    { role: "operator", scope: ACME, needs: "operator", deed: order("eu-central"), missing: "tenants" },
    { role: "operator", scope: EU, needs: "operator", deed: traffic("eu-central", "*", "*"), missing: null },
    { role: "operator", scope: EU, needs: "operator", deed: traffic("*", "*", "*"), missing: "regions" },
    { role: "operator", scope: CHAT, needs: "operator", deed: traffic("*", "chat", "*"), missing: null },
    { role: "operator", scope: CHAT, needs: "operator", deed: traffic("*", "c*", "*"), missing: "pools" },
    { role: "operator", scope: ACME, needs: "operator", deed: traffic("*", "*", "acme-eu"), missing: null },
    { role: "operator", scope: ACME, needs: "operator", deed: traffic("*", "*", "*"), missing: "tenants" },
    { role: "operator", scope: {}, needs: "admin", deed: CHANGE, missing: "role" },
    { role: "admin", scope: EU, needs: "admin", deed: CHANGE, missing: "regions" },
    { role: "admin", scope: {}, needs: "admin", deed: CHANGE, missing: null },
    { role: "admin", scope: EU, needs: "admin", deed: handOut({ regions: ["eu-central"] }), missing: null },
    { role: "admin", scope: EU, needs: "admin", deed: handOut({}), missing: "regions" },
    { role: "admin", scope: EU, needs: "admin", deed: handOut({ regions: ["eu-1", "us-1"] }), missing: "regions" },
    { role: "admin", scope: { ...EU, ...CHAT }, needs: "admin", deed: handOut(EU), missing: "pools" },
    { role: "operator", scope: {}, needs: "admin", deed: handOut(EU), missing: "role" },
    { role: "acme", scope: {}, needs: "acme", deed: CHANGE, missing: null },
    { role: "acme", scope: {}, needs: "viewer", deed: ANY, missing: "role" },
    { role: "operator", scope: {}, needs: "acme", deed: CHANGE, missing: "role" },
  ];
  for (const { role, scope, needs, deed, missing } of cases) {
    const whom = `${role} of ${JSON.stringify(scope)}`;
    it(`${whom}: ${JSON.stringify(deed)} as ${needs} lacks ${missing ?? "nothing"}`, () => {
      assert.equal(denial(actor(role, scope), needs, deed)?.missing ?? null, missing);
    });
  }
  it("who is refused is told what is missing, and what they are limited to", () => {
    assert.deepEqual(denial(actor("operator", EU), "operator", order("us-east")), {
      missing: "regions",
      needed: "us-east",
      detail: "This is about us-east. alice is limited to regions eu-*.",
    });
    assert.equal(
      denial(actor("viewer"), "operator", order("x"))?.detail,
      "This needs the role operator; alice is viewer.",
    );
  });
});

describe("an override", () => {
  const wish = { region: "eu-1", pool: "chat", tenant: "acme" } as const;
  it("that keeps traffic out of a region is about that region; whatever else it does is about all of them", () => {
    for (const kind of ["deny", "drain-new", "drain-all", "share"] as const) {
      assert.deepEqual(deedOfOverride({ kind, ...wish }), traffic("eu-1", "chat", "acme"));
    }
    assert.deepEqual(deedOfOverride({ kind: "force", ...wish }), traffic("*", "chat", "acme"));
  });
  it("is seen by whoever has some of its traffic", () => {
    const sees = (scope: Wished, pool: string, tenant: string) =>
      seesOverride(actor("viewer", scope), { pool, tenant });
    assert.ok(sees({ pools: ["chat"] }, "*", "acme"));
    assert.ok(!sees({ pools: ["chat"] }, "code", "*"));
    assert.ok(!sees({ tenants: ["b*"] }, "*", "a*"));
    assert.ok(sees({ regions: ["eu-*"] }, "code", "acme"));
  });
});

describe("regions", () => {
  const regions = [aRegion("frankfurt"), aRegion("paris")];
  const pools = [aPool(regions.slice(0, 1)), { ...aPool(regions.slice(1)), name: PoolName.parse("code") }];
  it("are seen by whoever may see a pool that uses them, and all by whoever is not limited to pools", () => {
    assert.equal(regionsSeen(actor("viewer", { regions: ["paris"], tenants: ["acme"] }), pools), null);
    assert.deepEqual([...(regionsSeen(actor("viewer", { pools: ["co*"] }), pools) ?? [])], ["paris"]);
    assert.deepEqual([...(regionsSeen(actor("viewer", { pools: ["none"] }), pools) ?? [])], []);
  });
});

describe("a route", () => {
  const routes = [
    { method: "ALL", path: "/*" },
    { method: "POST", path: "/api/v1/regions/:id/drain" },
    { method: "GET", path: "/api/v1/regions/:id" },
  ];
  it("is found by what is asked for, and so is what its path is about", () => {
    assert.deepEqual(routeFor(routes, "POST", "/api/v1/regions/eu-1/drain"), {
      pattern: "/api/v1/regions/:id/drain",
      subject: "eu-1",
    });
    assert.deepEqual(routeFor(routes, "HEAD", "/api/v1/regions/a%2Fb")?.subject, "a/b");
    assert.equal(routeFor(routes, "DELETE", "/api/v1/regions/eu-1"), null);
    assert.equal(routeFor(routes, "GET", "/api/v1/regions/eu-1/"), null);
  });
  it("that nobody has thought about is for unlimited admins", () => {
    assert.deepEqual(needOf("POST", "/api/v1/self-destruct"), UNDECLARED);
    assert.deepEqual(deedOf(UNDECLARED, "POST", null), CHANGE);
    assert.deepEqual(deedOf(UNDECLARED, "GET", null), SEE);
    assert.equal(denial(actor("operator"), UNDECLARED.role, SEE)?.missing, "role");
  });
  it("that orders about a region is refused for another", () => {
    const need = needOf("POST", "/api/v1/regions/:id/drain");
    assert.deepEqual(deedOf(need, "POST", "us-1"), order("us-1"));
  });
});
