/** Every route of the API, taken from its own description, asked by callers who may not: strangers, viewers, people with limits. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isChange } from "#gtm/wire/admin/audit.ts";
import { ROUTE_NEEDS, routeName } from "#gtm/wire/admin/route-needs.ts";
import { serverEvents } from "#gtm/wire/admin/server-events.ts";
import { createToken } from "#gtm/wire/admin/token.ts";
import type { RegionId } from "#shared/ids.ts";
import { PoolName } from "#shared/ids.ts";
import { type ApiOperation, operationsOf } from "#test/support/api-operations.ts";
import { aConversation, aPool, aRegion, CONVERSATION } from "#test/support/builders.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";
import { type AdminWish, runningAdmin, type Tokens, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const setUp = async (wish: AdminWish = {}) => {
  const tokens: Tokens = await tokensFile();
  const admin = await runningAdmin({ tokensFile: tokens.path, ...wish });
  const root = tokens.of.admin;
  return {
    ...{ admin, tokens, root },
    make: async (fields: object): Promise<{ id: string; token: string }> => {
      const body = { name: "x", role: "viewer", comment: "a test", for: "1h", ...fields };
      return (await admin.ask("POST", "/tokens", { token: root, body })).body;
    },
    /** @returns the status; a subject that nobody has stands for what a path names */
    call: async ({ method, path }: ApiOperation, token: string | undefined, subject = "x"): Promise<number> => {
      const response = await fetch(admin.url + path.replace(/\{[^}]*\}/g, subject), {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(method === "GET" ? {} : { "content-type": "application/json" }),
        },
        ...(method === "GET" || method === "HEAD" ? {} : { body: "{}" }),
      });
      await response.body?.cancel();
      return response.status;
    },
    [Symbol.asyncDispose]: async () => {
      await admin[Symbol.asyncDispose]();
      await tokens[Symbol.asyncDispose]();
    },
  };
};

describe("every route", () => {
  it("says what it needs in route-needs.ts, and no row there is of a route that is gone", async () => {
    await using admin = await runningAdmin();
    const there = (await operationsOf(admin)).map(({ method, path }) => routeName(method, path));
    assert.ok(there.length > 30, `${there.length}`);
    assert.deepEqual(
      there.filter((name) => ROUTE_NEEDS[name] === undefined),
      [],
      "routes without a row",
    );
    assert.deepEqual(
      Object.keys(ROUTE_NEEDS).filter((name) => !there.includes(name)),
      [],
      "rows without a route",
    );
  });

  it("is 401 for nobody, for a stranger's token, for one that has expired and for one that was revoked", async () => {
    await using one = await setUp();
    const expired = await one.make({ role: "admin", for: "1m" });
    const revoked = await one.make({ role: "admin" });
    await one.admin.ask("DELETE", `/tokens/${revoked.id}`, { token: one.root });
    one.admin.gtm.clock.pass(60_000);
    for (const operation of await operationsOf(one.admin, one.root)) {
      const name = `${operation.method} ${operation.path}`;
      assert.equal(await one.call(operation, undefined), 401, name);
      // So that so many failures are not told to wait.
      one.admin.gtm.clock.pass(10_000);
      for (const token of [createToken(), expired.token, revoked.token, "a.b.c"]) {
        assert.equal(await one.call(operation, token), 401, `${name} ${token.slice(0, 6)}`);
      }
    }
  });

  it("changes nothing for a viewer, whatever the method: only what reads answers", async () => {
    await using one = await setUp();
    const { viewer } = one.tokens.of;
    const before = JSON.stringify([one.admin.gtm.state.orders, one.admin.gtm.state.conversations]);
    const operations = await operationsOf(one.admin, viewer);
    for (const { method, path } of operations) {
      const looks = !isChange({ method, path, isDryRun: false });
      const needsMore = ROUTE_NEEDS[routeName(method, path)]?.role !== "viewer";
      const status = await one.call({ method, path }, viewer);
      if (looks && !needsMore) assert.ok(![401, 403].includes(status), `${method} ${path}: ${status}`);
      else assert.equal(status, 403, `${method} ${path}`);
    }
    for (const path of new Set(operations.map((each) => each.path))) {
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        if (operations.some((each) => each.path === path && each.method === method)) continue;
        assert.ok([403, 405].includes(await one.call({ method, path }, viewer)), `${method} ${path}`);
      }
    }
    assert.equal(JSON.stringify([one.admin.gtm.state.orders, one.admin.gtm.state.conversations]), before);
  });

  it("that changes something is refused for an operator who is limited to other regions, pools and tenants", async () => {
    await using one = await setUp();
    const limited = await one.make({ role: "operator", regions: ["no-*"], pools: ["none"], tenants: ["nobody"] });
    for (const { method, path } of await operationsOf(one.admin, one.root)) {
      if (!isChange({ method, path, isDryRun: false })) continue;
      const status = await one.call(
        { method, path },
        limited.token,
        path.includes("/conversations/") ? CONVERSATION : "paris",
      );
      assert.ok([400, 403, 404].includes(status), `${method} ${path}: ${status}`);
    }
    assert.equal(one.admin.gtm.state.orders.rev, 0);
    assert.equal(one.admin.gtm.state.conversations.length, 1);
  });

  it("answers with what no browser takes for a page, and what comes from outside stays text", async () => {
    const markup = "<img src=x onerror=alert(1)>";
    await using one = await setUp();
    const { root } = one;
    await one.admin.ask("POST", "/regions/paris/drain", { token: root, body: { mode: "drain-new", comment: markup } });
    const wish = { kind: "deny", region: "paris", tenant: markup, comment: markup, for: "1h" };
    assert.equal((await one.admin.ask("POST", "/overrides", { token: root, body: wish })).status, 200);
    await one.make({ comment: markup });
    one.admin.gtm.decide({ tenant: markup });
    let shown = 0;
    for (const { method, path } of await operationsOf(one.admin, root)) {
      if (method !== "GET" || path.endsWith("/events")) continue;
      const headers = { authorization: `Bearer ${root}` };
      const response = await fetch(one.admin.url + path.replace(/\{[^}]*\}/g, "paris"), { headers });
      assert.match(response.headers.get("content-type") ?? "", /^application\/(?:problem\+)?json/, path);
      assert.equal(response.headers.get("x-content-type-options"), "nosniff", path);
      assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'self'/, path);
      if ((await response.text()).includes(markup)) shown += 1;
    }
    assert.ok(shown >= 4, `${shown}`);
  });
});

const OURS = aRegion("frankfurt");
const HIDDEN = aRegion("hidden-region" as RegionId);
/** Two pools, each with a region of its own; what is of the second is called hidden. */
const twoPools = (): AdminWish => ({
  regions: [OURS, HIDDEN],
  pools: [aPool([OURS]), aPool([HIDDEN], { name: PoolName.parse("hidden-pool") })],
  conversations: [aConversation({ home: "frankfurt", contextTokens: 5_000 })],
});

describe("somebody limited to a pool and a tenant", () => {
  const limits = { pools: ["chat"], tenants: ["acme"] };
  const fill = async (one: Awaited<ReturnType<typeof setUp>>) => {
    const { admin, root } = one;
    const [chat, hidden] = admin.gtm.ports.pools;
    assert.ok(chat !== undefined && hidden !== undefined);
    admin.gtm.decide({ pool: chat, tenant: "acme", conversationId: CONVERSATION });
    const foreign = [
      admin.gtm.decide({ pool: hidden, tenant: "acme" }),
      admin.gtm.decide({ pool: chat, tenant: "hidden-tenant" }),
    ];
    const order = { mode: "drain-new", comment: "hidden reason" };
    assert.equal(
      (
        await admin.ask("POST", "/regions/hidden-region/drain?override_rule=minRegionsPerModel", {
          token: root,
          body: order,
        })
      ).status,
      200,
    );
    const wish = { kind: "deny", region: "frankfurt", tenant: "hidden-tenant", comment: "hidden", for: "1h" };
    const placed = await admin.ask("POST", "/overrides?override_rule=minRegionsPerModel", { token: root, body: wish });
    assert.equal(placed.status, 200, JSON.stringify(placed.body));
    return { foreign, override: placed.body.id as string };
  };

  it("sees nothing of others on any route that reads, and each that tells of everything is 403", async () => {
    await using one = await setUp(twoPools());
    await fill(one);
    const { token } = await one.make(limits);
    for (const { method, path } of await operationsOf(one.admin, one.root)) {
      const need = ROUTE_NEEDS[routeName(method, path)];
      if (method !== "GET" || path.includes("{") || path.endsWith("/events") || need?.role !== "viewer") continue;
      const response = await fetch(one.admin.url + path, { headers: { authorization: `Bearer ${token}` } });
      if (need.concerns === "whole") assert.equal(response.status, 403, path);
      else assert.ok([200, 400].includes(response.status), `${path}: ${response.status}`);
      const text = await response.text();
      // A decision of theirs names every region that took part, also those that no pool of theirs uses.
      const hidden = path.endsWith("/decisions") ? /hidden(?!-region)/ : /hidden/;
      if (!path.endsWith("openapi.json")) assert.doesNotMatch(text, hidden, path);
    }
  });

  it("finds what is theirs, and of what is not is told that it is not there", async () => {
    await using one = await setUp(twoPools());
    const { foreign, override } = await fill(one);
    const { token } = await one.make(limits);
    const own = (await one.admin.ask("GET", "/decisions", { token })).body.items;
    assert.deepEqual(
      own.map((each: { tenant: string; pool: string }) => [each.pool, each.tenant]),
      [["chat", "acme"]],
    );
    assert.equal((await one.admin.ask("GET", "/conversations", { token })).body.items.length, 1);
    assert.equal((await one.admin.ask("GET", `/conversations/${CONVERSATION}`, { token })).status, 200);
    const { buckets } = (await one.admin.ask("GET", "/recent", { token })).body;
    const counted = buckets.flatMap(({ verdicts }: { verdicts: Record<string, number> }) => Object.values(verdicts));
    assert.equal(
      counted.reduce((sum: number, each: number) => sum + each, 0),
      1,
    );
    const whatIf = await one.admin.ask("POST", "/what-if", { token, body: { regions: { frankfurt: "drain-all" } } });
    assert.equal(whatIf.body.decisions, 1);
    for (const { decision } of foreign) {
      assert.equal((await one.admin.ask("GET", `/decisions/${decision.id}`, { token })).status, 404);
    }
    assert.equal((await one.admin.ask("GET", `/overrides/${override}`, { token })).status, 404);
    assert.equal((await one.admin.ask("GET", "/regions/hidden-region", { token })).status, 404);
    const explain = (body: object) =>
      one.admin.ask("POST", "/explain", { token, body: { client: "192.0.2.1", ...body } });
    assert.equal((await explain({ pool: "chat", tenant: "acme" })).status, 200);
    assert.deepEqual((await explain({ pool: "chat" })).body.missing, { what: "tenants", needed: "default" });
    assert.deepEqual((await explain({ pool: "hidden-pool", tenant: "acme" })).body.missing, {
      what: "pools",
      needed: "hidden-pool",
    });
  });

  it("hears of their decisions only, and of nothing once the token is revoked", { timeout: 20_000 }, async () => {
    await using one = await setUp(twoPools());
    const { id, token } = await one.make(limits);
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await fetch(`${one.admin.url}/api/v1/events?kinds=decision`, { headers });
    assert.ok(body);
    await until(async () => (await metricValue(one.admin.metrics, "gtm_admin_event_readers")) === 1);
    const [chat, hidden] = one.admin.gtm.ports.pools;
    assert.ok(chat !== undefined && hidden !== undefined);
    one.admin.gtm.decide({ pool: hidden, tenant: "acme" });
    one.admin.gtm.decide({ pool: chat, tenant: "hidden-tenant" });
    const theirs = one.admin.gtm.decide({ pool: chat, tenant: "acme" });
    await one.admin.ask("DELETE", `/tokens/${id}`, { token: one.root });
    const heard: string[] = [];
    for await (const { event, data } of serverEvents(body)) if (event === "decision") heard.push(JSON.parse(data).id);
    assert.deepEqual(heard, [theirs.decision.id]);
  });
});

describe("an operator limited to a region", () => {
  it("orders of that region, sees all of them, and is told what is missing for another", async () => {
    await using one = await setUp();
    const { token } = await one.make({ role: "operator", regions: ["par*"] });
    const drain = (region: string) =>
      one.admin.ask("POST", `/regions/${region}/drain`, { token, body: { mode: "drain-new", comment: "x" } });
    assert.equal((await drain("paris")).status, 200);
    const refused = await drain("frankfurt");
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body.missing, { what: "regions", needed: "frankfurt" });
    assert.equal(refused.body.detail, "This is about frankfurt. x is limited to regions par*.");
    assert.equal((await one.admin.ask("GET", "/regions", { token })).body.items.length, 3);
    const deny = (region: string) =>
      one.admin.ask("POST", "/overrides", {
        token,
        body: { kind: "deny", region, tenant: "acme", comment: "x", for: "1h" },
      });
    assert.deepEqual([(await deny("paris")).status, (await deny("*")).status], [200, 403]);
    const force = { kind: "force", region: "paris", comment: "x", for: "1h" };
    assert.equal((await one.admin.ask("POST", "/overrides", { token, body: force })).status, 403);
    assert.equal((await one.admin.ask("DELETE", `/conversations/${CONVERSATION}`, { token })).status, 403);
    const { items } = (await one.admin.ask("GET", "/audit", { token: one.root })).body;
    assert.ok(items.some((each: { status: number; actor: string }) => each.status === 403 && each.actor === "x"));
  });
});
