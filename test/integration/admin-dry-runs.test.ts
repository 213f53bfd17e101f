/** Every request that changes something can be asked what it would do: in one form, by the same code, changing nothing. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { operationsOf } from "#test/support/api-operations.ts";
import { aConversation } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin, type Tokens, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const held = aConversation({ home: "frankfurt", contextTokens: 20_000 });
const CHALLENGE = "_acme-challenge.chat.llm.test";
const COMMENT = { comment: "a test" };

/** What is asked of each, in this order; `{override}`, `{operation}` and `{token}` are those that the ones before made. */
const MUTATIONS: readonly { readonly name: string; readonly path: string; readonly body?: object }[] = [
  {
    name: "POST /overrides",
    path: "/overrides",
    body: { kind: "share", share: 0.5, region: "paris", for: "1h", ...COMMENT },
  },
  { name: "PATCH /overrides/{id}", path: "/overrides/{override}", body: { share: 0.2 } },
  { name: "DELETE /overrides/{id}", path: "/overrides/{override}" },
  { name: "POST /regions/{id}/drain", path: "/regions/paris/drain", body: { mode: "drain-new", ...COMMENT } },
  { name: "POST /operations/{id}/cancel", path: "/operations/{operation}/cancel", body: {} },
  { name: "POST /regions/{id}/drain", path: "/regions/paris/drain", body: { mode: "drain-all", ...COMMENT } },
  { name: "POST /regions/{id}/undrain", path: "/regions/paris/undrain", body: {} },
  { name: "POST /regions/{id}/down", path: "/regions/paris/down", body: COMMENT },
  { name: "POST /regions/{id}/up", path: "/regions/paris/up", body: {} },
  {
    name: "POST /conversations/{id}/move",
    path: `/conversations/${held.id}/move`,
    body: { region: "paris", ...COMMENT },
  },
  { name: "DELETE /conversations/{id}", path: `/conversations/${held.id}` },
  { name: "POST /acme-challenges", path: "/acme-challenges", body: { name: CHALLENGE, value: "digest" } },
  { name: "DELETE /acme-challenges/{name}", path: `/acme-challenges/${CHALLENGE}` },
  { name: "POST /tokens", path: "/tokens", body: { name: "bob", role: "viewer", for: "1d", ...COMMENT } },
  { name: "PATCH /tokens/{id}", path: "/tokens/{token}", body: { for: "2d" } },
  { name: "DELETE /tokens/{id}", path: "/tokens/{token}" },
];

/** lego and the like know nothing of dry runs: whatever they ask is meant. */
const LEGO = ["POST /acme/present", "POST /acme/cleanup"];
/** Asked by POST for the length of what is asked. */
const LOOKS = ["POST /explain", "POST /what-if", "POST /config/check", "POST /zones/{zone}/delegation/check"];
/** Held by test/integration/config-reload.test.ts: there is no file here. */
const ELSEWHERE = ["POST /config/reload"];

let tokens: Tokens;
let admin: RunningAdmin;
before(async () => {
  tokens = await tokensFile();
  admin = await runningAdmin({ conversations: [held], tokensFile: tokens.path });
});
after(async () => {
  await admin[Symbol.asyncDispose]();
  await tokens[Symbol.asyncDispose]();
});

/** All that a mutation may change. */
const everything = (): string => {
  const { orders, conversations, audit } = admin.gtm.state;
  const { acme, tokens: made } = admin.gtm.ports;
  return JSON.stringify([orders, conversations, audit, acme.list(), made.current()]);
};

describe("a dry run", () => {
  it("is had of every route that changes something, and of no other", async () => {
    const { body } = await admin.ask("GET", "/openapi.json", { token: tokens.of.admin });
    const withDryRun: string[] = [];
    const without: string[] = [];
    for (const { method, path } of await operationsOf(admin, tokens.of.admin)) {
      const operation = body.paths[path]?.[method.toLowerCase()];
      const parameter = (operation?.parameters ?? []).find((one: { name: string }) => one.name === "dry_run");
      const name = `${method} ${path.replace("/api/v1", "")}`;
      if (parameter !== undefined) {
        assert.deepEqual([parameter.in, parameter.schema.enum], ["query", ["true", "false"]], name);
        withDryRun.push(name);
      } else if (method !== "GET") without.push(name);
    }
    const expected = new Set([...MUTATIONS.map(({ name }) => name), ...ELSEWHERE]);
    assert.deepEqual(withDryRun.sort(), [...expected].sort());
    assert.deepEqual(without.sort(), [...LEGO, ...LOOKS].sort());
  });
  it("says what would be and changes nothing; what it says can be done, then is", async () => {
    const made = { override: "", operation: "", token: "" };
    for (const { name, path, body } of MUTATIONS) {
      const method = name.split(" ")[0] ?? "";
      const address = path.replace(/\{(override|operation|token)\}/, (_, kind: keyof typeof made) => made[kind]);
      const asked = { token: tokens.of.admin, ...(body === undefined ? {} : { body }) };
      const beforehand = everything();
      const dry = await admin.ask(method, `${address}?dry_run=true`, asked);
      assert.equal(dry.status, 200, `${name}: ${JSON.stringify(dry.body)}`);
      assert.equal(everything(), beforehand, name);
      const misspelt = await admin.ask(method, `${address}?dryrun=true`, asked);
      assert.equal(misspelt.status, 400, name);
      const done = await admin.ask(method, address, asked);
      assert.equal(done.status, 200, `${name}: ${JSON.stringify(done.body)}`);
      assert.notEqual(everything(), beforehand, name);
      if (name === "POST /overrides") made.override = done.body.id;
      if (name === "POST /tokens") made.token = done.body.id;
      made.operation = admin.gtm.state.orders.operations?.at(-1)?.id ?? "";
    }
  });
});

const share = { kind: "share", share: 0.5, region: "paris", ...COMMENT, for: "1h" };
const deny = { kind: "deny", region: "frankfurt", tenant: "default", ...COMMENT, for: "1h" };

describe("the dry run of a change", () => {
  it("of a share says whom it keeps out, and is carried out only while it holds", async () => {
    await using one = await runningAdmin({ conversations: [held] });
    const { id } = (await one.ask("POST", "/overrides", { body: share })).body;
    const plan = await one.ask("PATCH", `/overrides/${id}?dry_run=true`, { body: { share: 0.1 } });
    assert.deepEqual([plan.body.deed, plan.body.override.share, plan.body.regions], ["change", 0.1, ["paris"]]);
    assert.equal(plan.headers.get("etag"), plan.body.override.etag);
    await one.ask("POST", "/overrides", { body: { ...share, region: "singapore" } });
    const late = await one.ask("PATCH", `/overrides/${id}?plan_id=${plan.body.planId}`, { body: { share: 0.1 } });
    assert.deepEqual([late.status, late.body.changed], [412, ["somebody ordered something else"]]);
    const other = await one.ask("PATCH", `/overrides/${id}?plan_id=${plan.body.planId}`, { body: { share: 0.9 } });
    assert.deepEqual(other.body.changed, ["it is of another order"]);
  });
  it("that cancels a denial says who would come back", async () => {
    await using one = await runningAdmin({ conversations: [held] });
    const { id } = (await one.ask("POST", "/overrides", { body: deny })).body;
    const { body } = await one.ask("DELETE", `/overrides/${id}?dry_run=true`);
    assert.equal(body.deed, "cancel");
    assert.deepEqual(body.nextTurns, [
      { region: "frankfurt", before: 0, after: 1 },
      { region: "paris", before: 1, after: 0 },
    ]);
    const done = await one.ask("DELETE", `/overrides/${id}?plan_id=${body.planId}`);
    assert.deepEqual(done.body, { id, cancelled: true });
  });
  it("shows the rule that would refuse it, and it is refused by it: somebody else gave it just now", async () => {
    await using file = await tokensFile();
    await using one = await runningAdmin({ conversations: [held], tokensFile: file.path });
    const { id } = (await one.ask("POST", "/overrides", { body: deny, token: file.of.operator })).body;
    const token = file.of.admin;
    const { body } = await one.ask("DELETE", `/overrides/${id}?dry_run=true`, { token });
    assert.deepEqual(
      body.violations.map((broken: { rule: string }) => broken.rule),
      ["cooldown"],
    );
    const refused = await one.ask("DELETE", `/overrides/${id}`, { token });
    assert.deepEqual([refused.status, refused.body.rule], [409, "cooldown"]);
    const silent = await one.ask("DELETE", `/overrides/${id}?override_rule=cooldown`, { token });
    assert.equal(silent.body.faults[0].at, "body.comment");
    const longer = await one.ask("PATCH", `/overrides/${id}`, { body: { for: "2h" }, token });
    assert.equal(longer.status, 200);
    const said = await one.ask("DELETE", `/overrides/${id}?override_rule=cooldown&comment=agreed`, { token });
    assert.equal(said.status, 200);
    assert.equal(one.gtm.state.orders.overrides.at(-1)?.comment, "agreed");
  });
  it("of a drain's operation is that of the undrain, or of the cancelled override", async () => {
    await using one = await runningAdmin({ conversations: [held] });
    await one.ask("POST", "/regions/frankfurt/drain", { body: { mode: "drain-all", ...COMMENT } });
    const [drain] = (await one.ask("GET", "/operations")).body.items;
    const undrain = await one.ask("POST", `/operations/${drain.id}/cancel?dry_run=true`, { body: {} });
    assert.deepEqual([undrain.body.from, undrain.body.to], ["drain-all", "active"]);
    assert.equal(undrain.headers.get("etag"), drain.etag);
    const body = { ...deny, kind: "drain-all" };
    const { id } = (await one.ask("POST", "/overrides", { body })).body;
    const cancel = await one.ask("POST", `/operations/${id}/cancel?dry_run=true`, { body: {} });
    assert.deepEqual([cancel.body.deed, cancel.body.override.id], ["cancel", id]);
  });
  it("of a conversation's release says where its next turn would go", async () => {
    await using one = await runningAdmin({ conversations: [held] });
    const { body } = await one.ask("DELETE", `/conversations/${held.id}?dry_run=true`);
    assert.deepEqual([body.from, body.contextTokens, body.unreleased.region], ["frankfurt", 20_000, "frankfurt"]);
    assert.ok(body.released.ttftMs > body.unreleased.ttftMs + 1_000, JSON.stringify(body));
    const unknown = await one.ask("DELETE", "/conversations/zzzzzzzzzzzzz?dry_run=true");
    assert.equal(unknown.body.isKnown, false);
  });
});
