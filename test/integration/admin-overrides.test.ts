/** Overrides at the admin API: previewed, given, extended, cancelled, refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConversationId } from "#shared/ids.ts";
import { aRegion } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DENY = { kind: "deny", region: "frankfurt", tenant: "acme", comment: "contract", for: "8h" };
const given = async (admin: RunningAdmin, body: unknown = DENY) =>
  (await admin.ask("POST", "/overrides", { body })).body;
const standing = (admin: RunningAdmin) => admin.gtm.ports.orders.current().overrides;

describe("an override", () => {
  it("concerns every pool, model and tenant that it does not name, and stands until its end", async () => {
    await using admin = await runningAdmin();
    const { status, body, headers } = await admin.ask("POST", "/overrides", { body: DENY });
    assert.equal(status, 200);
    assert.deepEqual(
      [body.kind, body.region, body.pool, body.model, body.tenant],
      ["deny", "frankfurt", "*", "*", "acme"],
    );
    assert.deepEqual([body.comment, body.actor], ["contract", "loopback"]);
    assert.deepEqual([body.expiresAt, body.expiresInMs], ["2026-11-30T12:00:00.000Z", 28_800_000]);
    assert.equal(headers.get("etag"), body.etag);
    const list = await admin.ask("GET", "/overrides");
    assert.deepEqual(list.body, { items: [body], next_cursor: null });
    assert.deepEqual((await admin.ask("GET", `/overrides/${body.id}`)).body, body);
  });

  it("steers the traffic it names and no other, and decisions name it", async () => {
    await using admin = await runningAdmin();
    const { id } = await given(admin);
    const regionFor = async (tenant: string) => {
      const { body } = await admin.ask("POST", "/explain", { body: { pool: "chat", client: "192.0.2.1", tenant } });
      return [body.verdict.region, body.overrideId];
    };
    assert.deepEqual(await regionFor("acme"), ["paris", id]);
    assert.deepEqual(await regionFor("globex"), ["frankfurt", null]);
  });

  it("with dry_run=true is a plan of what it would do, and changes nothing", async () => {
    await using admin = await runningAdmin();
    const { orders, world } = admin.gtm.state;
    const body = { ...DENY, tenant: "*" };
    const plan = await admin.ask("POST", "/overrides?dry_run=true", { body });
    assert.equal(plan.status, 200);
    assert.deepEqual(plan.body.regions, ["frankfurt"]);
    assert.deepEqual(plan.body.nextTurns, [
      { region: "frankfurt", before: 1, after: 0 },
      { region: "paris", before: 0, after: 1 },
    ]);
    assert.equal(admin.gtm.state.orders, orders);
    assert.equal(admin.gtm.state.world, world);
  });

  it("that drains a region for new conversations leaves those it holds where they are", async () => {
    await using admin = await runningAdmin();
    const plan = await admin.ask("POST", "/overrides?dry_run=true", {
      body: { ...DENY, kind: "drain-new", tenant: "*" },
    });
    assert.deepEqual(plan.body.nextTurns, [{ region: "frankfurt", before: 1, after: 1 }]);
    await given(admin, { ...DENY, kind: "drain-new", tenant: "*" });
    const fresh = await admin.ask("POST", "/explain", { body: { pool: "chat", client: "192.0.2.1" } });
    assert.equal(fresh.body.verdict.region, "paris");
  });

  it("can be extended from now on, by whoever saw it as it stands", async () => {
    await using admin = await runningAdmin();
    const { id, etag } = await given(admin);
    admin.gtm.clock.pass(3_600_000);
    const path = `/overrides/${id}`;
    const later = await admin.ask("PATCH", path, { body: { for: "2h" }, headers: { "if-match": etag } });
    assert.deepEqual([later.status, later.body.expiresInMs, later.body.comment], [200, 7_200_000, "contract"]);
    const stale = await admin.ask("PATCH", path, { body: { for: "3h" }, headers: { "if-match": etag } });
    assert.deepEqual([stale.status, stale.body.code], [412, "precondition-failed"]);
  });

  it("can be cancelled, and then stands no more", async () => {
    await using admin = await runningAdmin();
    const { id, etag } = await given(admin);
    const path = `/overrides/${id}`;
    const gone = await admin.ask("DELETE", path, { headers: { "if-match": etag } });
    assert.deepEqual([gone.status, gone.body], [200, { id, cancelled: true }]);
    assert.deepEqual(standing(admin), []);
    for (const [method, body] of [["GET"], ["DELETE"], ["PATCH", { for: "1h" }]] as const) {
      assert.equal((await admin.ask(method, path, { body })).status, 404);
    }
  });
});

describe("an override is refused", () => {
  const faults: readonly { when: string; body: object; at: string }[] = [
    { when: "it has no end", body: { ...DENY, for: undefined }, at: "body.for" },
    { when: "it would stand longer than 72 h", body: { ...DENY, for: "73h" }, at: "body.for" },
    { when: "nobody says why", body: { ...DENY, comment: " " }, at: "body.comment" },
    { when: "its kind is none", body: { ...DENY, kind: "shares" }, at: "body.kind" },
    { when: "it is a share and does not say of how much", body: { ...DENY, kind: "share" }, at: "body.share" },
    { when: "it is no share and says of how much", body: { ...DENY, share: 0.2 }, at: "body.share" },
    { when: "its share is more than all", body: { ...DENY, kind: "share", share: 20 }, at: "body.share" },
    { when: "no region is called so", body: { ...DENY, region: "tokyo*" }, at: "body.region" },
    { when: "no pool is called so", body: { ...DENY, pool: "chatt" }, at: "body.pool" },
    { when: "no model is called so", body: { ...DENY, model: "gpt*" }, at: "body.model" },
    { when: "a key is misspelt", body: { ...DENY, tenants: "acme" }, at: "body" },
  ];
  for (const { when, body, at } of faults) {
    it(`when ${when}`, async () => {
      await using admin = await runningAdmin();
      const refused = await admin.ask("POST", "/overrides", { body });
      assert.deepEqual([refused.status, refused.body.faults[0].at], [400, at]);
      assert.deepEqual(standing(admin), []);
    });
  }

  it("when it would leave a model without any region; the rule's name passes it", async () => {
    await using admin = await runningAdmin({
      regions: [aRegion("frankfurt"), aRegion("singapore", { placement: null })],
    });
    const body = { ...DENY, tenant: "*" };
    const refused = await admin.ask("POST", "/overrides", { body });
    assert.deepEqual([refused.status, refused.body.rule], [409, "minRegionsPerModel"]);
    const passed = await admin.ask("POST", "/overrides?override_rule=minRegionsPerModel", { body });
    assert.equal(passed.status, 200);
    assert.ok(admin.lines.some(({ level, event }) => level === "warn" && event === "override.rule-overridden"));
  });

  it("while the store is away", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.isStoreAway = true;
    const { status, body } = await admin.ask("POST", "/overrides", { body: DENY });
    assert.deepEqual([status, body.code], [503, "store-unreachable"]);
  });

  it("when a change is not JSON, as a web page elsewhere could send it", async () => {
    await using admin = await runningAdmin();
    const { id } = await given(admin);
    const headers = { "content-type": "text/plain" };
    const { status } = await admin.ask("PATCH", `/overrides/${id}`, { body: '{"for":"1h"}', headers });
    assert.equal(status, 415);
    assert.equal(standing(admin)[0]?.expiresAtMs, admin.gtm.clock.epochMs() + 28_800_000);
  });
});

describe("the list of overrides", () => {
  it("is filtered by kind, and by the names that an override is about", async () => {
    await using admin = await runningAdmin();
    await given(admin, { ...DENY, region: "frank*" });
    const kindsOf = async (query: string) =>
      (await admin.ask("GET", `/overrides?${query}`)).body.items.map(({ kind }: { kind: string }) => kind);
    assert.deepEqual(await kindsOf("region=frankfurt&tenant=acme&kind=deny&pool=chat"), ["deny"]);
    for (const query of ["region=paris", "tenant=globex", "kind=force"]) assert.deepEqual(await kindsOf(query), []);
    assert.equal((await admin.ask("GET", "/overrides?regions=paris")).status, 400);
  });
  it("says what each did in the last minute", async () => {
    await using admin = await runningAdmin();
    const { id, lastMinute } = await given(admin, { ...DENY, tenant: "*" });
    assert.equal(lastMinute.conversations, 0);
    admin.gtm.decide({ conversationId: ConversationId.parse("abcdefgh00001") });
    admin.gtm.decide({});
    const { body } = await admin.ask("GET", `/overrides/${id}`);
    assert.deepEqual(body.lastMinute, { conversations: 1, cells: 0, others: 1, yielded: 0, isComplete: true });
  });
});

describe("an override of the kind share", () => {
  const SHARE = { ...DENY, kind: "share", share: 0, tenant: "*" };
  it("is given another share by whoever saw it as it stands, and keeps its end", async () => {
    await using admin = await runningAdmin();
    const { id, etag, expiresAt } = await given(admin, SHARE);
    admin.gtm.clock.pass(1_000);
    const headers = { "if-match": etag };
    const raised = await admin.ask("PATCH", `/overrides/${id}`, { body: { share: 0.5 }, headers });
    assert.deepEqual([raised.status, raised.body.share, raised.body.expiresAt], [200, 0.5, expiresAt]);
    assert.equal((await admin.ask("PATCH", `/overrides/${id}`, { body: { share: 0.6 }, headers })).status, 412);
    const empty = await admin.ask("PATCH", `/overrides/${id}`, { body: { comment: "x" } });
    assert.deepEqual([empty.status, empty.body.faults[0].at], [400, "body.for"]);
  });
  it("is the only one that has a share", async () => {
    await using admin = await runningAdmin();
    const { id } = await given(admin);
    const { status, body } = await admin.ask("PATCH", `/overrides/${id}`, { body: { share: 0.5 } });
    assert.deepEqual([status, body.faults[0].at], [400, "body.share"]);
  });
  it("stands with its share, keeps new conversations out and leaves those that are held", async () => {
    await using admin = await runningAdmin();
    const { body } = await admin.ask("POST", "/overrides", { body: SHARE });
    assert.deepEqual([body.kind, body.share, standing(admin)[0]?.share], ["share", 0, 0]);
    const fresh = await admin.ask("POST", "/explain", { body: { pool: "chat", client: "192.0.2.1" } });
    assert.deepEqual([fresh.body.verdict.region, fresh.body.yieldedOverrideIds], ["paris", []]);
    assert.deepEqual(fresh.body.considered[0].exclusion, { reason: "over-share", overrideId: body.id, share: 0 });
    const plan = await admin.ask("POST", "/overrides?dry_run=true", { body: SHARE });
    assert.deepEqual(plan.body.nextTurns, [{ region: "frankfurt", before: 1, after: 1 }]);
  });
  it("that would leave no region yields, so that no rule refuses it", async () => {
    await using admin = await runningAdmin({ regions: [aRegion("frankfurt")] });
    const { status, body } = await admin.ask("POST", "/overrides", { body: SHARE });
    assert.equal(status, 200);
    const fresh = await admin.ask("POST", "/explain", { body: { pool: "chat", client: "192.0.2.1" } });
    assert.deepEqual([fresh.body.verdict.region, fresh.body.yieldedOverrideIds], ["frankfurt", [body.id]]);
  });
});
