/** Tokens made, listed, changed and revoked by the API, over a real socket. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runningAdmin, type Tokens, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const WISH = { name: "bob", role: "operator", comment: "on call", for: "30d" };
const DAY_MS = 86_400_000;

const setUp = async () => {
  const tokens: Tokens = await tokensFile();
  const admin = await runningAdmin({ tokensFile: tokens.path });
  const root = tokens.of.admin;
  return {
    ...{ admin, tokens },
    make: (wish: object = {}, token = root) => admin.ask("POST", "/tokens", { token, body: { ...WISH, ...wish } }),
    asRoot: (method: string, path: string, more: object = {}) => admin.ask(method, path, { token: root, ...more }),
    [Symbol.asyncDispose]: async () => {
      await admin[Symbol.asyncDispose]();
      await tokens[Symbol.asyncDispose]();
    },
  };
};

describe("a token made by the API", () => {
  it("is shown once, opens what its role opens, and is listed with who made it, its age, its end and its last use", async () => {
    await using one = await setUp();
    const made = await one.make({ regions: ["eu-*"] });
    assert.equal(made.status, 200);
    assert.match(made.body.token, /^gtm_[A-Za-z0-9_-]{43}$/);
    one.admin.gtm.clock.pass(60_000);
    const whoami = await one.admin.ask("GET", "/whoami", { token: made.body.token });
    assert.deepEqual(
      [whoami.body.name, whoami.body.role, whoami.body.tokenId, whoami.body.regions, whoami.body.expiresInMs],
      ["bob", "operator", made.body.id, ["eu-*"], 30 * DAY_MS - 60_000],
    );
    one.admin.gtm.clock.pass(60_000);
    const { body } = await one.asRoot("GET", "/tokens");
    const [listed] = body.items;
    assert.deepEqual(
      { ...listed, createdAt: null, expiresAt: null, lastUsedAt: null, etag: null },
      {
        ...{ id: made.body.id, source: "api", name: "bob", role: "operator", state: "active" },
        ...{ regions: ["eu-*"], pools: null, tenants: null, names: null, comment: "on call" },
        ...{ createdBy: "the-admin", createdWith: body.items.at(-2).id, createdAt: null, createdMsAgo: 120_000 },
        ...{ expiresAt: null, expiresInMs: 30 * DAY_MS - 120_000, lastUsedAt: null, lastUsedMsAgo: 60_000 },
        ...{ revokedAt: null, revokedBy: null, etag: null },
      },
    );
    assert.deepEqual(
      body.items.slice(1).map(({ source, name }: { source: string; name: string }) => [source, name]),
      [
        ["file", "the-viewer"],
        ["file", "the-operator"],
        ["file", "the-admin"],
        ["file", "the-acme"],
      ],
    );
    assert.doesNotMatch(
      JSON.stringify([body, one.admin.lines, one.admin.gtm.state.audit]),
      /gtm_[A-Za-z0-9_-]{43}|sha256/,
    );
  });
  it("ends by itself", async () => {
    await using one = await setUp();
    const { token } = (await one.make({ for: "1h" })).body;
    one.admin.gtm.clock.pass(3_599_999);
    assert.equal((await one.admin.ask("GET", "/whoami", { token })).status, 200);
    one.admin.gtm.clock.pass(1);
    const { status, body } = await one.admin.ask("GET", "/whoami", { token });
    assert.equal(status, 401);
    assert.match(body.detail, /^The token bob expired 2026-/);
    assert.equal((await one.asRoot("GET", "/tokens")).body.items[0].state, "expired");
  });
  it("opens nothing once it is revoked, and the audit says who did that and by which token", async () => {
    await using one = await setUp();
    const { id, token } = (await one.make()).body;
    const { body } = await one.asRoot("DELETE", `/tokens/${id}`);
    assert.deepEqual(body, { id, revoked: true, alsoRevoked: [] });
    assert.match((await one.admin.ask("GET", "/whoami", { token })).body.detail, /was revoked/);
    assert.deepEqual([(await one.asRoot("DELETE", `/tokens/${id}`)).status], [404]);
    const { items } = (await one.asRoot("GET", "/audit")).body;
    assert.deepEqual(
      items.map(({ actor, method, status, tokenId }: Record<string, unknown>) => [actor, method, status, tokenId]),
      [
        ["the-admin", "DELETE", 404, items[0].tokenId],
        ["the-admin", "DELETE", 200, items[0].tokenId],
        ["the-admin", "POST", 200, items[0].tokenId],
      ],
    );
    assert.match(items[0].tokenId, /^file-[0-9a-f]{12}$/);
  });
  it("takes those that it made with it, and those made with them, where that is asked", async () => {
    await using one = await setUp();
    const first = (await one.make({ role: "admin" })).body;
    one.admin.gtm.clock.pass(1);
    const second = (await one.make({ role: "admin", name: "second" }, first.token)).body;
    one.admin.gtm.clock.pass(1);
    const third = (await one.make({ name: "third" }, second.token)).body;
    const other = (await one.make({ name: "other" })).body;
    const { body } = await one.asRoot("DELETE", `/tokens/${first.id}?with_made=true`);
    assert.deepEqual(body.alsoRevoked, [second.id, third.id]);
    assert.equal((await one.admin.ask("GET", "/whoami", { token: third.token })).status, 401);
    assert.equal((await one.admin.ask("GET", "/whoami", { token: other.token })).status, 200);
  });
  it("stands so long from now as it is extended, and not where somebody else was faster", async () => {
    await using one = await setUp();
    const made = await one.make({ for: "1h" });
    const { id, etag } = made.body;
    assert.equal(made.headers.get("etag"), etag);
    const change = { headers: { "if-match": etag }, body: { for: "2h", comment: "longer" } };
    const changed = await one.asRoot("PATCH", `/tokens/${id}`, change);
    assert.deepEqual([changed.status, changed.body.expiresInMs, changed.body.comment], [200, 7_200_000, "longer"]);
    assert.equal((await one.asRoot("PATCH", `/tokens/${id}`, change)).status, 412);
    assert.equal((await one.asRoot("DELETE", `/tokens/${id}`, { headers: { "if-match": etag } })).status, 412);
  });
  it("is only looked at by a dry run", async () => {
    await using one = await setUp();
    const { body } = await one.admin.ask("POST", "/tokens?dry_run=true", { token: one.tokens.of.admin, body: WISH });
    assert.deepEqual([body.name, body.token], ["bob", null]);
    assert.equal((await one.asRoot("GET", "/tokens")).body.items.length, 4);
    assert.equal(one.admin.gtm.state.audit.length, 0);
  });
  it("cannot be made while the store is away", async () => {
    await using one = await setUp();
    one.admin.gtm.state.isStoreAway = true;
    assert.equal((await one.make()).status, 503);
  });
});

describe("a token is refused", () => {
  const faults: readonly { what: string; wish: object; says: RegExp }[] = [
    { what: "without an end", wish: { for: undefined }, says: /body\.for: must be a duration/ },
    { what: "beyond the longest", wish: { for: "91d" }, says: /body\.for: must be 90d or less/ },
    { what: "without a reason", wish: { comment: " " }, says: /body\.comment/ },
    { what: "with a name that could be mistaken", wish: { name: "<b>bob</b>" }, says: /body\.name/ },
    { what: "with an empty list of regions", wish: { regions: [] }, says: /body\.regions/ },
    { what: "with names without the role acme", wish: { names: ["a.example.org"] }, says: /body\.names: belong to/ },
    {
      what: "of the role acme with regions",
      wish: { role: "acme", regions: ["eu"] },
      says: /body\.regions: do not go/,
    },
    { what: "with something that is misspelt", wish: { region: ["eu-*"] }, says: /region/ },
  ];
  for (const { what, wish, says } of faults) {
    it(`${what}`, async () => {
      await using one = await setUp();
      const { status, body } = await one.make(wish);
      assert.equal(status, 400);
      assert.match(body.detail, says);
    });
  }
  it("where nobody is asked for one", async () => {
    await using admin = await runningAdmin();
    const { status, body } = await admin.ask("POST", "/tokens", { body: WISH });
    assert.deepEqual([status, body.code], [409, "state-conflict"]);
  });
  it("by an admin who has less: neither made nor seen nor taken away", async () => {
    await using one = await setUp();
    const eu = (await one.make({ role: "admin", name: "eu", regions: ["eu-*"] })).body;
    const wide = (await one.make({ name: "wide" })).body;
    const refused = await one.make({ name: "x", regions: ["us-*"] }, eu.token);
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.body.missing, { what: "regions", needed: "us-*" });
    assert.equal((await one.make({ name: "x", role: "acme" }, eu.token)).status, 403);
    const inherited = (await one.make({ name: "y" }, eu.token)).body;
    assert.deepEqual(inherited.regions, ["eu-*"]);
    const { items } = (await one.admin.ask("GET", "/tokens", { token: eu.token })).body;
    assert.deepEqual(items.map(({ name }: { name: string }) => name).sort(), ["eu", "y"]);
    assert.equal((await one.admin.ask("DELETE", `/tokens/${wide.id}`, { token: eu.token })).status, 404);
    assert.equal((await one.admin.ask("GET", `/tokens/${wide.id}`, { token: eu.token })).status, 404);
  });
  it("to be revoked where it is a line of the file", async () => {
    await using one = await setUp();
    const { items } = (await one.asRoot("GET", "/tokens")).body;
    const { status, body } = await one.asRoot("DELETE", `/tokens/${items[0].id}`);
    assert.equal(status, 409);
    assert.match(body.detail, /is a line of admin\.auth\.tokens_file/);
  });
});
