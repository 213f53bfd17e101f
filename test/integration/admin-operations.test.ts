/** Drains by and by at the admin API: planned, carried out by the plan, followed, taken back, raced. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { regionOf } from "#gtm/domain/decision.ts";
import { ConversationId } from "#shared/ids.ts";
import { aConversation, aRegion } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const conversation = (at: number, contextTokens: number) => ({
  ...aConversation({ home: "frankfurt", contextTokens }),
  id: ConversationId.parse(`abcdefgh${String(at).padStart(5, "0")}`),
});
const SCENE = {
  regions: [
    aRegion("frankfurt", { placement: { requestsRunning: 0 } }),
    aRegion("paris", { placement: { backlogMs: 400 } }),
  ],
  conversations: [conversation(1, 2_000), conversation(2, 8_000), conversation(3, 30_000)],
};
const DRAIN = { mode: "drain-all", comment: "driver update", over: "10m", pace: "even" };
const drain = (admin: RunningAdmin, query = "", headers = {}) =>
  admin.ask("POST", `/regions/frankfurt/drain${query}`, { body: DRAIN, headers });

describe("a drain over ten minutes", () => {
  it("says beforehand what it does to users and to the regions that they go to", async () => {
    await using admin = await runningAdmin(SCENE);
    const { status, body } = await drain(admin, "?dry_run=true");
    assert.equal(status, 200);
    assert.deepEqual([body.conversations.pinned, body.conversations.hot, body.conversations.idle], [3, 3, 0]);
    assert.deepEqual([body.displaced.conversations, body.displaced.recomputeTokens], [3, 40_000]);
    // 40 000 tokens at 5 000 tokens a second.
    assert.equal(body.displaced.replicaSeconds, 8);
    assert.ok(body.displaced.ttftP95AfterMs - body.displaced.ttftP95BeforeMs >= 6_000);
    const [paris, ...others] = body.targets;
    assert.deepEqual([paris.region, paris.conversations, others.length], ["paris", 3, 0]);
    assert.deepEqual([paris.kvCacheUsedFraction, paris.kvCacheUsedAfterFraction], [0.1, 0.2]);
    // 40 000 tokens in 600 s are 67 of the 5 000 a second that are to spare.
    assert.deepEqual([paris.sparePrefillTokensPerSecond, paris.sparePrefillAfterTokensPerSecond], [5_000, 4_933]);
    assert.deepEqual([body.paced.pace, body.paced.endsInMs, body.paced.isHurried], ["even", 600_000, false]);
    assert.deepEqual(admin.gtm.state.orders.operations, undefined);
  });

  it("ends sooner where the others have enough to spare, and says when it must hurry", async () => {
    await using admin = await runningAdmin(SCENE);
    const spare = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", {
      body: { ...DRAIN, pace: undefined },
    });
    // Half of 5 000 tokens a second.
    assert.deepEqual([spare.body.paced.endsInMs, spare.body.paced.wantedMs], [16_000, 16_000]);
    const hurried = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", {
      body: { ...DRAIN, pace: "spare", over: "4s" },
    });
    assert.deepEqual([hurried.body.paced.endsInMs, hurried.body.paced.isHurried], [4_000, true]);
  });

  it("lets the cheapest conversations go first, and all at the end", async () => {
    await using admin = await runningAdmin(SCENE);
    const planned = await drain(admin, "?dry_run=true");
    const done = await drain(admin, `?plan_id=${planned.body.planId}`);
    assert.equal(done.status, 200);
    const whereTo = () =>
      SCENE.conversations.map(({ id }) =>
        regionOf(
          admin.gtm.decide({ conversationId: id, receivedAtMs: admin.gtm.clock.monotonicMs() }).decision.verdict,
        ),
      );
    assert.deepEqual(whereTo(), ["frankfurt", "frankfurt", "frankfurt"]);
    admin.gtm.clock.pass(60_000);
    assert.deepEqual(whereTo(), ["paris", "frankfurt", "frankfurt"]);
    admin.gtm.clock.pass(120_000);
    assert.deepEqual(whereTo(), ["paris", "paris", "frankfurt"]);
    admin.gtm.clock.pass(420_000);
    assert.deepEqual(whereTo(), ["paris", "paris", "paris"]);
  });

  it("is refused where over, pace, mode and for do not fit", async () => {
    await using admin = await runningAdmin(SCENE);
    for (const [wish, says] of [
      [{ mode: "drain-new" }, /drain-all only/],
      [{ pace: "immediately" }, /immediately takes no over/],
      [{ over: undefined, pace: "even" }, /by when/],
      [{ for: "5m" }, /not be longer than for/],
      [{ over: "ten minutes" }, /duration/],
    ] as const) {
      const { status, body } = await admin.ask("POST", "/regions/frankfurt/drain", { body: { ...DRAIN, ...wish } });
      assert.deepEqual([status, body.code], [400, "malformed-request"]);
      assert.match(body.detail, says);
    }
  });
});

describe("a plan's id", () => {
  it("refuses another order, and the same after somebody else ordered, saying what changed", async () => {
    await using admin = await runningAdmin(SCENE);
    const { planId } = (await drain(admin, "?dry_run=true")).body;
    const other = await admin.ask("POST", `/regions/paris/drain?plan_id=${planId}`, { body: DRAIN });
    assert.deepEqual([other.status, other.body.changed], [412, ["it is of another order"]]);
    await admin.ask("POST", "/regions/paris/down", { body: { comment: "power" } });
    const stale = await drain(admin, `?plan_id=${planId}`);
    assert.deepEqual([stale.status, stale.body.code], [412, "precondition-failed"]);
    assert.deepEqual(stale.body.changed, ["somebody ordered something else", "paris is down and healthy now"]);
    assert.equal((await drain(admin, "?plan_id=p1")).status, 400);
  });
  it("holds for overrides, too", async () => {
    await using admin = await runningAdmin(SCENE);
    const body = { kind: "drain-all", region: "frank*", model: "llama*", comment: "x", for: "1h", over: "5m" };
    const plan = await admin.ask("POST", "/overrides?dry_run=true", { body });
    assert.deepEqual([plan.body.conversations.home, plan.body.paced.deadlineInMs], [3, 300_000]);
    const given = await admin.ask("POST", `/overrides?plan_id=${plan.body.planId}`, { body });
    assert.equal(given.status, 200);
    const again = await admin.ask("POST", `/overrides?plan_id=${plan.body.planId}`, { body });
    assert.equal(again.status, 412);
    const { items } = (await admin.ask("GET", "/operations")).body;
    assert.deepEqual(
      [items[0].override, items[0].model, items[0].left.pinned, items[0].left.requests],
      [given.body.id, "llama*", 3, 0],
    );
  });
});

describe("the operation of a drain", () => {
  it("is listed and shown with what is left, and survives in the orders", async () => {
    await using admin = await runningAdmin(SCENE);
    await drain(admin);
    admin.gtm.clock.pass(60_000);
    admin.gtm.state.conversations = admin.gtm.state.conversations.slice(1);
    const { items } = (await admin.ask("GET", "/operations?state=running")).body;
    const shown = await admin.ask("GET", `/operations/${items[0].id}`);
    assert.equal(shown.headers.get("etag"), shown.body.etag);
    const { state, atStart, left, moved, deadlineInMs, ageMs } = shown.body;
    assert.deepEqual([state, atStart.pinned, left.pinned, left.tokens, moved], ["running", 3, 2, 38_000, 1]);
    assert.deepEqual([deadlineInMs, ageMs], [540_000, 60_000]);
    assert.deepEqual((await admin.ask("GET", "/operations?state=cancelled")).body.items, []);
    assert.equal((await admin.ask("GET", "/operations/nothing")).status, 404);
  });

  it("is shown without what is left while the store is away", async () => {
    await using admin = await runningAdmin(SCENE);
    await drain(admin);
    admin.gtm.state.isStoreAway = true;
    const { items } = (await admin.ask("GET", "/operations")).body;
    assert.deepEqual([items[0].state, items[0].left, items[0].etaMs], ["running", null, null]);
    assert.match(items[0].because, /the store does not answer/);
  });

  it("is taken back once: the second person is told with 412, and then with 409", async () => {
    await using admin = await runningAdmin(SCENE);
    await drain(admin);
    const [{ id, etag }] = (await admin.ask("GET", "/operations")).body.items;
    const cancel = (ifMatch: string | null) =>
      admin.ask("POST", `/operations/${id}/cancel`, {
        body: { comment: "not today" },
        headers: ifMatch === null ? {} : { "if-match": ifMatch },
      });
    assert.equal((await cancel('"another"')).status, 412);
    const cancelled = await cancel(etag);
    assert.deepEqual([cancelled.status, cancelled.body.state, cancelled.body.left], [200, "cancelled", null]);
    assert.notEqual(cancelled.body.etag, etag);
    assert.deepEqual((await admin.ask("GET", "/regions/frankfurt")).body.admin, "active");
    const again = await cancel(etag);
    assert.deepEqual([again.status, again.body.code, again.body.state], [409, "state-conflict", "cancelled"]);
    assert.equal(admin.gtm.state.audit.at(-1)?.status, 409);
  });

  it("is not taken back within the cooldown of somebody else's order, but by naming the rule and saying why", async () => {
    await using admin = await runningAdmin(SCENE);
    await drain(admin);
    const [{ id }] = (await admin.ask("GET", "/operations")).body.items;
    const { orders } = admin.gtm.state;
    admin.gtm.state.orders = { ...orders, regions: orders.regions.map((one) => ({ ...one, actor: "bob" })) };
    const cancel = (query: string, body: object) => admin.ask("POST", `/operations/${id}/cancel${query}`, { body });
    const refused = await cancel("", {});
    assert.deepEqual([refused.status, refused.body.rule], [409, "cooldown"]);
    assert.equal((await cancel("?override_rule=cooldown", {})).status, 400);
    const done = await cancel("?override_rule=cooldown", { comment: "bob agrees" });
    assert.deepEqual([done.status, done.body.state], [200, "cancelled"]);
  });

  it("is superseded by the next order about the region, and cancelled by undrain", async () => {
    await using admin = await runningAdmin(SCENE);
    await drain(admin);
    await drain(admin);
    await admin.ask("POST", "/regions/frankfurt/undrain", { body: {} });
    const { items } = (await admin.ask("GET", "/operations?region=frankfurt")).body;
    assert.deepEqual(
      items.map((one: { state: string }) => one.state),
      ["cancelled", "superseded"],
    );
  });

  it("is told of as an event", async () => {
    await using admin = await runningAdmin(SCENE);
    await drain(admin);
    const response = await fetch(`${admin.url}/api/v1/events?kinds=operation`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.ok(reader);
    let text = "";
    // The watch looks every two seconds; the test's own limit ends a wait for nothing.
    while (!/event: operation\n.*\n\n/.test(text)) text += (await reader.read()).value ?? "";
    await reader.cancel();
    assert.match(text, /event: operation\ndata: \{"at":".*"state":"running"/);
  });
});
