/** Who may do what at the admin API, over a real socket. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { describe, it } from "node:test";
import { createAdmin } from "#gtm/wire/admin/server.ts";
import { createToken } from "#gtm/wire/admin/token.ts";
import { createMetrics } from "#shared/metrics.ts";
import { CONVERSATION } from "#test/support/builders.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { fakeGtm } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { NO_AUTH, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DRAIN = { mode: "drain-new", comment: "x" };
const CALLS: readonly { method: string; path: string; body?: unknown; needs: "viewer" | "operator" }[] = [
  { method: "GET", path: "/whoami", needs: "viewer" },
  { method: "GET", path: "/status", needs: "viewer" },
  { method: "GET", path: "/version", needs: "viewer" },
  { method: "GET", path: "/openapi.json", needs: "viewer" },
  { method: "GET", path: "/regions", needs: "viewer" },
  { method: "GET", path: "/regions/paris", needs: "viewer" },
  { method: "GET", path: "/placements", needs: "viewer" },
  { method: "GET", path: "/conversations", needs: "viewer" },
  { method: "GET", path: `/conversations/${CONVERSATION}`, needs: "viewer" },
  { method: "GET", path: "/decisions", needs: "viewer" },
  { method: "GET", path: "/overrides", needs: "viewer" },
  { method: "GET", path: "/audit", needs: "viewer" },
  { method: "GET", path: "/recent", needs: "viewer" },
  {
    method: "POST",
    path: "/overrides",
    body: { kind: "deny", region: "paris", comment: "x", for: "1h" },
    needs: "operator",
  },
  { method: "POST", path: "/what-if", body: { regions: { paris: "drain-all" } }, needs: "viewer" },
  { method: "POST", path: "/explain", body: { pool: "chat", client: "192.0.2.1" }, needs: "viewer" },
  { method: "GET", path: "/snapshot?pool=chat&client=192.0.2.1", needs: "viewer" },
  { method: "POST", path: "/regions/paris/drain", body: DRAIN, needs: "operator" },
  { method: "POST", path: "/regions/paris/drain?dry_run=true", body: DRAIN, needs: "operator" },
  { method: "POST", path: "/regions/paris/undrain", body: {}, needs: "operator" },
  { method: "POST", path: "/regions/paris/down", body: { comment: "x" }, needs: "operator" },
  { method: "POST", path: "/regions/paris/up", body: {}, needs: "operator" },
  { method: "DELETE", path: `/conversations/${CONVERSATION}`, needs: "operator" },
];

describe("with a tokens file", () => {
  for (const { method, path, body, needs } of CALLS) {
    it(`${method} ${path} is 401 for nobody and for strangers, and needs the role ${needs}`, async () => {
      await using tokens = await tokensFile();
      await using admin = await runningAdmin({ tokensFile: tokens.path });
      const statusFor = async (token?: string): Promise<number> => {
        const { status } = await admin.ask(method, path, {
          ...(body === undefined ? {} : { body }),
          ...(token === undefined ? {} : { token }),
        });
        // Whoever orders the same again is let in, and may be held by a safety rule.
        return status === 409 ? 200 : status;
      };
      assert.deepEqual(
        {
          nobody: await statusFor(),
          stranger: await statusFor(createToken()),
          viewer: await statusFor(tokens.of.viewer),
          operator: await statusFor(tokens.of.operator),
          admin: await statusFor(tokens.of.admin),
        },
        { nobody: 401, stranger: 401, viewer: needs === "viewer" ? 200 : 403, operator: 200, admin: 200 },
      );
    });
  }

  it("even an address that does not exist is 401 first", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    assert.equal((await admin.ask("GET", "/nothing")).status, 401);
    assert.equal((await admin.ask("GET", "/nothing", { token: tokens.of.viewer })).status, 404);
  });

  it("a refusal says how to ask, and each cause is counted", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const missing = await admin.ask("GET", "/status");
    const malformed = await admin.ask("GET", "/status", { token: "two words" });
    const unknown = await admin.ask("GET", "/status", { token: createToken() });
    const forbidden = await admin.ask("POST", "/regions/paris/undrain", { token: tokens.of.viewer, body: {} });
    assert.equal(missing.headers.get("www-authenticate"), 'Bearer realm="gtm"');
    assert.equal(malformed.headers.get("www-authenticate"), 'Bearer realm="gtm", error="invalid_token"');
    assert.equal(unknown.headers.get("www-authenticate"), 'Bearer realm="gtm", error="invalid_token"');
    assert.equal(forbidden.headers.get("www-authenticate"), 'Bearer realm="gtm", error="insufficient_scope"');
    assert.equal(forbidden.body.detail, "This needs the role operator; the-viewer is viewer.");
    for (const cause of ["missing", "malformed", "unknown", "forbidden"]) {
      assert.equal(await metricValue(admin.metrics, "gtm_admin_auth_failures_total", { cause }), 1, cause);
    }
  });

  it("an order carries its actor's name, and neither log nor answer a token", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const whoami = await admin.ask("GET", "/whoami", { token: tokens.of.operator });
    const { name, role, by, tokenId } = whoami.body;
    assert.deepEqual([name, role, by], ["the-operator", "operator", "token"]);
    assert.match(tokenId, /^file-[0-9a-f]{12}$/);
    const { body } = await admin.ask("POST", "/regions/paris/drain", { token: tokens.of.operator, body: DRAIN });
    assert.equal(body.order.actor, "the-operator");
    assert.ok(
      admin.lines.some(({ event, fields }) => event === "region.ordered" && fields["actor"] === "the-operator"),
    );
    assert.doesNotMatch(JSON.stringify([admin.lines, body]), /gtm_[A-Za-z0-9_-]{43}/);
  });

  it("a token that is struck from the file is refused with the next request, a new one is accepted", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const { viewer } = tokens.of;
    assert.equal((await admin.ask("GET", "/whoami", { token: viewer })).status, 200);
    await writeFile(tokens.path, `${tokens.lines[1]}\n`);
    assert.equal((await admin.ask("GET", "/whoami", { token: viewer })).status, 401);
    await writeFile(tokens.path, `${tokens.lines.join("\n")}\n`);
    assert.equal((await admin.ask("GET", "/whoami", { token: viewer })).status, 200);
  });
});

/** fetch sets Host itself; this asks as a rebound name would. */
const statusWithHost = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(`${url}/api/v1/status`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });

describe("without a tokens file", () => {
  it("whoever connects over loopback is an admin", async () => {
    await using admin = await runningAdmin();
    assert.deepEqual((await admin.ask("GET", "/whoami")).body, {
      ...{ name: "loopback", role: "admin", by: "loopback", tokenId: null },
      ...{ regions: null, pools: null, tenants: null, expiresAt: null, expiresInMs: null },
    });
    assert.equal((await admin.ask("POST", "/regions/paris/drain", { body: DRAIN })).body.order.actor, "loopback");
  });

  for (const { host, status } of [
    { host: "127.0.0.1", status: 200 },
    { host: "127.0.0.1:9443", status: 200 },
    { host: "localhost:9443", status: 200 },
    { host: "[::1]:9443", status: 200 },
    { host: "evil.example.org", status: 421 },
    { host: "evil.example.org:9443", status: 421 },
    { host: "127.0.0.1.example.org", status: 421 },
    { host: "[2001:db8::1]:9443", status: 421 },
  ]) {
    it(`a request to the host ${host} is ${status}, so that no foreign name can be rebound to it`, async () => {
      await using admin = await runningAdmin();
      assert.equal(await statusWithHost(admin.url, host), status);
      const refused = await metricValue(admin.metrics, "gtm_admin_auth_failures_total", { cause: "host" });
      assert.equal(refused, status === 421 ? 1 : 0);
    });
  }

  const options = (address: string, tokens: string | null) => ({
    listen: { address, port: 0 },
    auth: { ...NO_AUTH, tokensFile: tokens },
    ports: fakeGtm().ports,
    clock: fakeGtm().clock,
    log: recordingLog(),
    metrics: createMetrics(),
  });
  for (const address of ["0.0.0.0", "::", "192.0.2.1"]) {
    it(`it does not start on ${address}, which other hosts can reach`, async () => {
      await assert.rejects(createAdmin(options(address, null)).start(), {
        code: "GTM_CONFIG_INVALID",
        message: /needs admin\.auth\.tokens_file/,
      });
    });
  }
  it("with one it does, and warns that tokens travel in plain text", async () => {
    await using tokens = await tokensFile();
    const open = options("0.0.0.0", tokens.path);
    const admin = createAdmin(open);
    await admin.start();
    await admin.stop();
    assert.ok(open.log.lines.some(({ level, event }) => level === "warn" && event === "admin.plaintext"));
  });
});
