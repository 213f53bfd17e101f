/** Challenges over the admin API: lego's two calls, tokens that may do nothing else, and what is refused. */
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { createToken, hashOfToken } from "#gtm/wire/admin/token.ts";
import { tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const VALUE = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
const CHAT = { fqdn: "_acme-challenge.chat.llm.test.", value: VALUE };

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** As lego calls it. */
const call = async (
  admin: RunningAdmin,
  path: string,
  body: unknown,
  authorization?: string,
): Promise<{ readonly status: number; readonly code: string; readonly detail: string; readonly headers: Headers }> => {
  const response = await fetch(`${admin.url}/acme/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const { code = "", detail = "" } = JSON.parse(await response.text());
  return { status: response.status, code, detail, headers: response.headers };
};

const setUp = async () => {
  const tokens = await tokensFile();
  const admin = await runningAdmin({ tokensFile: tokens.path });
  const stack = new AsyncDisposableStack();
  stack.use(tokens);
  stack.use(admin);
  return { tokens, admin, [Symbol.asyncDispose]: () => stack.disposeAsync() };
};
const listed = async (admin: RunningAdmin, token: string) =>
  (await admin.ask("GET", "/acme-challenges", { token })).body.items;

describe("lego's calls", () => {
  it("present and clean up with a token of the role acme, by basic auth", async () => {
    await using one = await setUp();
    const { admin, tokens } = one;
    const lego = basic("the-acme", tokens.of.acme);
    assert.equal((await call(admin, "present", CHAT, lego)).status, 200);
    assert.deepEqual(await listed(admin, tokens.of.viewer), [
      {
        name: "_acme-challenge.chat.llm.test",
        values: [{ value: VALUE, actor: "the-acme", expiresInMs: 600_000 }],
      },
    ]);
    for (let times = 0; times < 2; times++) assert.equal((await call(admin, "cleanup", CHAT, lego)).status, 200);
    assert.deepEqual(await listed(admin, tokens.of.viewer), []);
  });
  it("work with the token as bearer, and for an admin", async () => {
    await using one = await setUp();
    for (const token of [one.tokens.of.acme, one.tokens.of.admin])
      assert.equal((await call(one.admin, "present", CHAT, `Bearer ${token}`)).status, 200);
  });
  it("work without tokens on loopback, where everybody on the host is an admin", async () => {
    await using admin = await runningAdmin();
    assert.equal((await call(admin, "present", CHAT)).status, 200);
    assert.equal((await call(admin, "present", CHAT, basic("anybody", "x"))).status, 200);
  });
  for (const role of ["viewer", "operator"] as const) {
    it(`are forbidden to a ${role}`, async () => {
      await using one = await setUp();
      for (const path of ["present", "cleanup"]) {
        const answer = await call(one.admin, path, CHAT, basic(`the-${role}`, one.tokens.of[role]));
        assert.deepEqual([answer.status, answer.code], [403, "forbidden"]);
      }
    });
  }
  it("do not clean up what another presented", async () => {
    await using one = await setUp();
    const { admin, tokens } = one;
    await call(admin, "present", CHAT, basic("the-admin", tokens.of.admin));
    const answer = await call(admin, "cleanup", CHAT, basic("the-acme", tokens.of.acme));
    assert.equal(answer.status, 403);
    assert.match(answer.detail, /Somebody else presented/);
    assert.equal((await listed(admin, tokens.of.viewer)).length, 1);
  });
  it("of HTTPREQ_MODE=RAW are told what to do", async () => {
    await using one = await setUp();
    const raw = { domain: "chat.llm.test", token: "t", keyAuth: "t.k" };
    const answer = await call(one.admin, "present", raw, basic("the-acme", one.tokens.of.acme));
    assert.equal(answer.status, 400);
    assert.match(answer.detail, /leave HTTPREQ_MODE out/);
  });
  it("are 503 while the store is away: an issuance can wait", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.isStoreAway = true;
    for (const path of ["present", "cleanup"]) {
      const answer = await call(admin, path, CHAT);
      assert.deepEqual(
        [answer.status, answer.code, answer.headers.get("retry-after")],
        [503, "store-unreachable", "5"],
      );
    }
  });
});

describe("credentials", () => {
  it("of the role acme open nothing else", async () => {
    await using one = await setUp();
    const { admin, tokens } = one;
    const { body: description } = await admin.ask("GET", "/openapi.json", { token: tokens.of.viewer });
    const calls = Object.entries(description.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path: path.replace(/\{[^}]*\}/g, "x"), method: method.toUpperCase() })),
    );
    const others = calls.filter(({ path }) => !path.startsWith("/acme/"));
    assert.ok(others.length > 20, `${others.length}`);
    for (const { path, method } of [...others, { path: "/api/v1/openapi.json", method: "GET" }]) {
      const headers = { "content-type": "application/json" };
      const body = method === "POST" ? { body: "{}" } : {};
      const bearer = { ...headers, authorization: `Bearer ${tokens.of.acme}` };
      assert.equal((await fetch(admin.url + path, { method, headers: bearer, ...body })).status, 403, path);
      const asPassword = { ...headers, authorization: basic("the-acme", tokens.of.acme) };
      const { status } = await fetch(admin.url + path, { method, headers: asPassword, ...body });
      // After many such attempts it is told to wait.
      assert.ok(status === 401 || status === 429, `${path}: ${status}`);
    }
  });
  it("as a password count for these two calls only, whoever's they are", async () => {
    await using one = await setUp();
    const headers = { authorization: basic("the-admin", one.tokens.of.admin) };
    const answer = await fetch(`${one.admin.url}/api/v1/status`, { headers });
    assert.deepEqual([answer.status, answer.headers.get("www-authenticate")?.includes("Basic")], [401, false]);
  });
  const wrong: readonly (readonly [what: string, of: (token: string) => string | undefined])[] = [
    ["none", () => undefined],
    ["another's name", (token) => basic("the-admin", token)],
    ["no name", (token) => basic("", token)],
    ["no colon", (token) => `Basic ${Buffer.from(token).toString("base64")}`],
    ["no base64", () => "Basic ,,,"],
    ["a wrong token", () => basic("the-acme", createToken())],
    ["the hash of the token", (token) => basic("the-acme", hashOfToken(token))],
    ["an empty password", () => basic("the-acme", "")],
  ];
  for (const [what, of] of wrong) {
    it(`with ${what} are 401, and counted`, async () => {
      await using one = await setUp();
      const answer = await call(one.admin, "present", CHAT, of(one.tokens.of.acme));
      assert.equal(answer.status, 401);
      assert.match(answer.headers.get("www-authenticate") ?? "", /Basic realm="gtm acme"/);
      assert.equal(await metricValue(one.admin.metrics, "gtm_admin_auth_failures_total"), 1);
      assert.deepEqual(await listed(one.admin, one.tokens.of.viewer), []);
    });
  }
  it("may be for some names only, their wildcards included", async () => {
    await using one = await setUp();
    const { out } = await runCli([
      ...["token", "create", "--role", "acme", "--name", "front", "-o", "json"],
      ...["--names", "*.c.llm.test,chat.llm.test"],
    ]);
    const { token, line } = JSON.parse(out);
    await appendFile(one.tokens.path, `${line}\n`);
    const ask = (name: string, path = "present") =>
      call(one.admin, path, { fqdn: `_acme-challenge.${name}.llm.test.`, value: VALUE }, basic("front", token));
    assert.deepEqual([(await ask("c")).status, (await ask("chat")).status], [200, 200]);
    const refused = await ask("m");
    assert.equal(refused.status, 403);
    assert.match(refused.detail, /front may answer challenges of c\.llm\.test, chat\.llm\.test only/);
    assert.equal((await ask("m", "cleanup")).status, 403);
  });
  it("of another role cannot be for some names only", async () => {
    const { exitCode, err } = await runCli([
      ...["token", "create", "--role", "admin", "--name", "x", "--names", "chat.llm.test"],
    ]);
    assert.deepEqual([exitCode, err], [2, "gtm: --names goes with --role acme only\n"]);
    const refused = await runCli(["token", "create", "--role", "acme", "--name", "x", "--names", "chat.,llm"]);
    assert.equal(refused.exitCode, 2);
    await using one = await setUp();
    const line = tokenLine({ name: "x", role: "viewer", sha256: "ab".repeat(32), names: ["chat.llm.test"] });
    await appendFile(one.tokens.path, `${line}\n`);
    await one.admin.ask("GET", "/status", { token: one.tokens.of.viewer });
    assert.match(String(one.admin.lines.at(-1)?.fields["message"]), /belong to the role acme only/);
  });
});

describe("a challenge", () => {
  const faults: readonly (readonly [what: string, body: unknown, status: number])[] = [
    ["outside the zone", { ...CHAT, fqdn: "_acme-challenge.example.org." }, 404],
    ["of a name that only ends like the zone", { ...CHAT, fqdn: "_acme-challenge.chatxllm.test." }, 404],
    ["with two dots at its end", { ...CHAT, fqdn: `${CHAT.fqdn}.` }, 404],
    ["of no challenge's name", { ...CHAT, fqdn: "chat.llm.test." }, 400],
    ["of a name of 256 characters", { ...CHAT, fqdn: `_acme-challenge.${"x".repeat(240)}` }, 400],
    ["without a value", { fqdn: CHAT.fqdn }, 400],
    ["of an empty value", { ...CHAT, value: "" }, 400],
    ["of 256 characters", { ...CHAT, value: "x".repeat(256) }, 400],
    ["of two lines", { ...CHAT, value: "a\nb" }, 400],
    ["of letters beyond ASCII", { ...CHAT, value: "ä" }, 400],
    ["of a number", { ...CHAT, value: Number.NaN }, 400],
    ["of a list", { ...CHAT, value: [VALUE] }, 400],
    ["with a key that nobody knows", { ...CHAT, ttl: 1 }, 400],
    ["that is null", null, 400],
    ["that is cut off", '{"fqdn":"', 400],
    ["of a name that is full", { ...CHAT, fqdn: "_acme-challenge.spare.llm.test" }, 409],
  ];
  for (const [what, body, status] of faults) {
    it(`${what} is ${status}`, async () => {
      await using admin = await runningAdmin();
      assert.equal((await call(admin, "present", body)).status, status);
      assert.deepEqual(await listed(admin, ""), []);
    });
  }
  it("with quotes and backslashes is taken as it is", async () => {
    await using admin = await runningAdmin();
    const value = 'a "quoted" \\ $ORIGIN ; (';
    assert.equal((await call(admin, "present", { ...CHAT, value })).status, 200);
    assert.equal((await listed(admin, ""))[0].values[0].value, value);
  });
  it("that is no JSON by its type is 415, so that no form of a foreign page is one", async () => {
    await using admin = await runningAdmin();
    const answer = await fetch(`${admin.url}/acme/present`, { method: "POST", body: JSON.stringify(CHAT) });
    assert.equal(answer.status, 415);
  });
});

describe("/api/v1/acme-challenges", () => {
  const present = { name: "_acme-challenge.c.llm.test", value: VALUE };
  it("is read by viewers, changed by admins", async () => {
    await using one = await setUp();
    const { admin, tokens } = one;
    for (const role of ["viewer", "operator", "acme"] as const) {
      const token = tokens.of[role];
      assert.equal((await admin.ask("POST", "/acme-challenges", { token, body: present })).status, 403, role);
      assert.equal((await admin.ask("DELETE", `/acme-challenges/${present.name}`, { token })).status, 403, role);
    }
    assert.equal((await admin.ask("GET", "/acme-challenges", { token: tokens.of.viewer })).status, 200);
    assert.equal((await admin.ask("GET", "/acme-challenges", { token: tokens.of.acme })).status, 403);
    const token = tokens.of.admin;
    assert.deepEqual((await admin.ask("POST", "/acme-challenges", { token, body: { ...present, for: "30m" } })).body, {
      ...present,
      expiresInMs: 1_800_000,
      isDryRun: false,
    });
    const { body } = await admin.ask("DELETE", `/acme-challenges/${present.name}`, { token });
    assert.deepEqual(body, { name: present.name, values: 1, isDryRun: false });
  });
  it("removes one value, whoever presented it", async () => {
    await using one = await setUp();
    const { admin, tokens } = one;
    await call(admin, "present", CHAT, basic("the-acme", tokens.of.acme));
    const path = `/acme-challenges/${CHAT.fqdn}`;
    const token = tokens.of.admin;
    assert.equal((await admin.ask("DELETE", `${path}?value=other`, { token })).body.values, 0);
    assert.equal((await admin.ask("DELETE", `${path}?valeu=${VALUE}`, { token })).status, 400);
    assert.equal((await admin.ask("DELETE", `${path}?value=${VALUE}`, { token })).body.values, 1);
    const said = admin.lines.findLast(({ event }) => event === "acme.removed");
    assert.deepEqual(said?.fields, { name: "_acme-challenge.chat.llm.test", actor: "the-admin", values: 1 });
    assert.equal((await admin.ask("DELETE", "/acme-challenges/_acme-challenge.nope", { token })).status, 404);
  });
  it("comes in pages", async () => {
    await using admin = await runningAdmin();
    for (const label of ["c", "chat", "m"])
      await call(admin, "present", { ...CHAT, fqdn: `_acme-challenge.${label}.llm.test` });
    const first = await admin.ask("GET", "/acme-challenges?limit=2");
    assert.deepEqual([first.body.items.length, first.body.next_cursor], [2, "_acme-challenge.chat.llm.test"]);
    const rest = await admin.ask("GET", `/acme-challenges?cursor=${first.body.next_cursor}`);
    assert.deepEqual([rest.body.items[0].name, rest.body.next_cursor], ["_acme-challenge.m.llm.test", null]);
  });
  for (const lasting of ["0s", "61m", "NaN", "1e9s", "-1s", 600]) {
    it(`for ${lasting} is 400`, async () => {
      await using admin = await runningAdmin();
      assert.equal((await admin.ask("POST", "/acme-challenges", { body: { ...present, for: lasting } })).status, 400);
    });
  }
});
