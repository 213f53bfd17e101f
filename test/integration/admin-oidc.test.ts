/** Tokens of an identity provider: a real one on loopback, what it signs and what it does not, and its absence. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import type { OidcSettings } from "#gtm/wire/admin/oidc.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { type Claims, type OidcProvider, startOidcProvider } from "#test/support/oidc-provider.ts";
import { until } from "#test/support/until.ts";
import { EPOCH_MS } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const ROLES: OidcSettings["roles"] = [
  { value: "gtm-admins", role: "admin" },
  { value: "eu-oncall", role: "operator", regions: ["eu-*"] },
  { value: "staff", role: "viewer", tenants: ["acme"] },
];

const setUp = async (wish: Partial<OidcSettings> = {}) => {
  const provider: OidcProvider = await startOidcProvider();
  const tokens = await tokensFile();
  const oidc: OidcSettings = {
    ...{ issuer: provider.issuer, audience: "llm-gtm", jwksUrl: null, nameClaim: "sub", roleClaim: "groups" },
    roles: ROLES,
    ...wish,
  };
  const admin = await runningAdmin({ tokensFile: tokens.path, auth: { oidc } });
  const nowMs = () => admin.gtm.clock.epochMs();
  const whoami = (token: string) => admin.ask("GET", "/whoami", { token });
  return {
    ...{ provider, admin, tokens, whoami, nowMs },
    /** Signs claims and asks who that is. */
    as: async (claims: Claims) => whoami(await provider.token(claims, nowMs())),
    [Symbol.asyncDispose]: async () => {
      await admin[Symbol.asyncDispose]();
      await tokens[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
};
const ADMIN = { groups: ["gtm-admins"] };

describe("a person with a token of the identity provider", () => {
  it("has the role and the limits of the first value that their claim has, until the token ends", async () => {
    await using one = await setUp();
    const { status, body } = await one.as({ groups: ["staff", "eu-oncall", "other"] });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      [body.name, body.role, body.by, body.tokenId, body.regions, body.tenants, body.expiresInMs],
      ["oidc:alice", "operator", "oidc", "id-1", ["eu-*"], null, 630_000],
    );
    assert.equal((await one.as({ groups: "staff" })).body.role, "viewer");
    assert.equal(one.provider.asked["/realm/keys"], 1);
    const order = { body: { comment: "x" }, token: await one.provider.token(ADMIN, one.nowMs()) };
    assert.equal((await one.admin.ask("POST", "/regions/paris/down", order)).body.order.actor, "oidc:alice");
    assert.deepEqual(
      one.admin.gtm.state.audit.map(({ actor, tokenId }) => [actor, tokenId]),
      [["oidc:alice", "id-1"]],
    );
  });
  it("may have the roles within another claim, and another claim as name", async () => {
    await using one = await setUp({ roleClaim: "realm_access.roles", nameClaim: "email" });
    const { body } = await one.as({ realm_access: { roles: ["gtm-admins"] }, email: "alice@example.org" });
    assert.deepEqual([body.name, body.role], ["oidc:alice@example.org", "admin"]);
  });
  it("without any of the values is 403 and told which would do", async () => {
    await using one = await setUp();
    const { status, body } = await one.as({ groups: ["others"] });
    assert.equal(status, 403);
    assert.equal(
      body.detail,
      "oidc:alice has no role here: the claim groups has none of gtm-admins, eu-oncall, staff.",
    );
    assert.equal(await metricValue(one.admin.metrics, "gtm_admin_auth_failures_total", { cause: "stranger" }), 1);
  });
  it("beside which tokens of the file go on", async () => {
    await using one = await setUp();
    assert.equal((await one.whoami(one.tokens.of.viewer)).body.name, "the-viewer");
  });
});

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token that is not the provider's word for this API is 401", () => {
  const claims: readonly { what: string; claims: Claims; says: RegExp }[] = [
    { what: "of another audience", claims: { aud: "other" }, says: /claim aud is not what/ },
    { what: "of another issuer", claims: { iss: "https://evil.example.org" }, says: /claim iss is not what/ },
    { what: "that has expired", claims: { exp: EPOCH_MS / 1_000 - 31 }, says: /has expired/ },
    { what: "that is not valid yet", claims: { nbf: EPOCH_MS / 1_000 + 31 }, says: /claim nbf/ },
    { what: "without an end", claims: { exp: undefined }, says: /claim exp/ },
    { what: "without a name", claims: { sub: undefined }, says: /claim sub/ },
    { what: "with markup for a name", claims: { sub: "<b> x" }, says: /printable characters/ },
    { what: "with a control character in its name", claims: { sub: "a\u0007b" }, says: /printable characters/ },
    {
      what: "with a name that is a list",
      claims: { sub: ["alice"] },
      says: /printable characters/,
    },
  ];
  for (const { what, claims: wrong, says } of claims) {
    it(`${what}`, async () => {
      await using one = await setUp();
      const { status, body } = await one.as({ ...ADMIN, ...wrong });
      assert.equal(status, 401);
      assert.match(body.detail, says);
    });
  }
  it("within 30 s of its end it still counts: clocks differ", async () => {
    await using one = await setUp();
    assert.equal((await one.as({ ...ADMIN, exp: EPOCH_MS / 1_000 - 29 })).status, 200);
  });
  it("unsigned, or signed with the public key as if it were a secret, or changed on the way", async () => {
    await using one = await setUp();
    const payload = { iss: one.provider.issuer, aud: "llm-gtm", sub: "alice", exp: EPOCH_MS / 1_000 + 600, ...ADMIN };
    const none = `${encoded({ alg: "none", kid: "key-1" })}.${encoded(payload)}.`;
    const head = `${encoded({ alg: "HS256", kid: "key-1" })}.${encoded(payload)}`;
    const pem = await one.provider.publicPem();
    const confused = `${head}.${createHmac("sha256", pem).update(head).digest("base64url")}`;
    const [first, , third] = (await one.provider.token({ groups: ["staff"] }, one.nowMs())).split(".");
    const changed = `${first}.${encoded(payload)}.${third}`;
    await using other = await startOidcProvider();
    const foreign = await other.token({ ...ADMIN, iss: one.provider.issuer }, one.nowMs());
    for (const token of [none, confused, changed, foreign, "a.b.c", `${"x".repeat(9_000)}.y.z`]) {
      const { status, body } = await one.whoami(token);
      assert.equal(status, 401, body.detail);
      assert.ok(!JSON.stringify([body, one.admin.lines]).includes(token.slice(0, 40)), "a token is repeated");
    }
    const causes = await metricValue(one.admin.metrics, "gtm_admin_auth_failures_total", { cause: "oidc-invalid" });
    assert.equal(causes, 6);
  });
});

describe("the provider's keys", () => {
  it("are fetched again for a key that is new, and no sooner than 30 s after the last time", async () => {
    await using one = await setUp();
    assert.equal((await one.as(ADMIN)).status, 200);
    await one.provider.rotate(true);
    assert.equal((await one.as(ADMIN)).status, 401);
    assert.equal(one.provider.asked["/realm/keys"], 1);
    one.admin.gtm.clock.pass(30_000);
    assert.equal((await one.as(ADMIN)).status, 200);
    assert.equal(one.provider.asked["/realm/keys"], 2);
  });
  it("no longer open anything once they were withdrawn and ten minutes have passed", async () => {
    await using one = await setUp();
    const old = await one.provider.token({ ...ADMIN, exp: EPOCH_MS / 1_000 + 86_400 }, one.nowMs());
    assert.equal((await one.whoami(old)).status, 200);
    await one.provider.rotate(false);
    one.admin.gtm.clock.pass(600_001);
    await until(async () => (await one.whoami(old)).status === 401);
  });
  it("go on while the provider is away, for a day; then it says why", async () => {
    await using one = await setUp();
    const long = { ...ADMIN, exp: EPOCH_MS / 1_000 + 3 * 86_400 };
    const token = await one.provider.token(long, one.nowMs());
    assert.equal((await one.whoami(token)).status, 200);
    one.provider.mode = "failing";
    one.admin.gtm.clock.pass(3_600_000);
    assert.equal((await one.whoami(token)).status, 200);
    await until(() => one.admin.lines.some(({ event }) => event === "oidc.keys-unavailable"));
    one.admin.gtm.clock.pass(86_400_000);
    const { status, body } = await one.whoami(token);
    assert.equal(status, 401);
    assert.match(
      body.detail,
      /^Nobody can be verified now: the keys of http:.* could not be fetched: .* answered 500\.$/,
    );
    assert.ok(
      ((await metricValue(one.admin.metrics, "gtm_admin_oidc_fetches_total", { outcome: "failed" })) ?? 0) >= 2,
    );
    one.provider.mode = "well";
    one.admin.gtm.clock.pass(30_000);
    assert.equal((await one.whoami(token)).status, 200);
  });
  for (const [mode, says] of [
    ["failing", /answered 500/],
    ["nonsense", /something else than JSON/],
  ] as const) {
    it(`of a provider that is ${mode} from the beginning are not there, and tokens of the file go on`, async () => {
      await using one = await setUp();
      one.provider.mode = mode;
      const { status, body } = await one.as(ADMIN);
      assert.equal(status, 401);
      assert.match(body.detail, says);
      assert.equal((await one.whoami(one.tokens.of.admin)).status, 200);
    });
  }
  it("are taken from their own address where one is given, without discovery", async () => {
    await using elsewhere = await startOidcProvider();
    await using one = await setUp({ issuer: "https://id.example.org/ops", jwksUrl: elsewhere.jwksUrl });
    const token = await elsewhere.token({ ...ADMIN, iss: "https://id.example.org/ops" }, one.nowMs());
    assert.equal((await one.whoami(token)).status, 200);
    assert.deepEqual(elsewhere.asked, { "/realm/keys": 1 });
  });
  it("are not taken from a provider whose discovery names another issuer", async () => {
    await using provider = await startOidcProvider();
    await using one = await setUp({ issuer: `${provider.issuer}/` });
    const token = await provider.token({ ...ADMIN, iss: `${provider.issuer}/` }, one.nowMs());
    assert.match((await one.whoami(token)).body.detail, /names another issuer/);
  });
});
