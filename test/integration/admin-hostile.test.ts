/** What the admin API answers to input that is broken, huge or slow. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { metricValue } from "#test/support/metric-value.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

describe("a body", () => {
  const bodies: readonly { what: string; body: string; code: string }[] = [
    { what: "that is cut off", body: '{"mode":"drain-all"', code: "malformed-json" },
    { what: "that is empty", body: "", code: "malformed-json" },
    { what: "of NUL bytes", body: "\u0000\u0000", code: "malformed-json" },
    { what: "that is a list", body: "[]", code: "malformed-request" },
    { what: "that is null", body: "null", code: "malformed-request" },
    { what: "that is a number", body: "1e999", code: "malformed-request" },
    { what: "with wrong types", body: '{"mode":1,"comment":{},"for":[]}', code: "malformed-request" },
    { what: "that reaches for the prototype", body: '{"__proto__":{"mode":"drain-all"}}', code: "malformed-request" },
    {
      what: `with a comment of 501 letters`,
      body: `{"mode":"drain-all","comment":"${"x".repeat(501)}"}`,
      code: "malformed-request",
    },
    { what: "nested 10 000 deep", body: `${"[".repeat(10_000)}${"]".repeat(10_000)}`, code: "malformed-request" },
  ];
  for (const { what, body, code } of bodies) {
    it(`${what} is 400 ${code}, and changes nothing`, async () => {
      await using admin = await runningAdmin();
      const reply = await admin.ask("POST", "/regions/paris/drain", { body });
      assert.deepEqual([reply.status, reply.body.code], [400, code]);
      assert.equal(reply.headers.get("content-type"), "application/problem+json");
      assert.equal(admin.gtm.state.orders.rev, 0);
    });
  }
  it("with many faults hears of all of them at once", async () => {
    await using admin = await runningAdmin();
    const { body } = await admin.ask("POST", "/regions/paris/drain", { body: { mode: "x", for: "1y", y: 1 } });
    assert.deepEqual(
      body.faults.map(({ at }: { at: string }) => at),
      ["body.mode", "body.comment", "body.for", "body"],
    );
  });
  it("of 10 MB is 413, whether it says so or not", async () => {
    await using admin = await runningAdmin();
    const huge = JSON.stringify({ mode: "drain-all", comment: "x".repeat(10_000_000) });
    const said = await admin.ask("POST", "/regions/paris/drain", { body: huge });
    assert.deepEqual([said.status, said.body.code], [413, "body-too-large"]);
    const unsaid = await fetch(`${admin.url}/api/v1/regions/paris/drain`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Blob([huge]).stream(),
      duplex: "half",
    });
    assert.equal(unsaid.status, 413);
    assert.equal((await admin.ask("GET", "/status")).status, 200);
  });
  it("whose length is not announced is read all the same", async () => {
    await using admin = await runningAdmin();
    const reply = await fetch(`${admin.url}/api/v1/regions/paris/drain`, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: new Blob(['{"mode":"drain-new",', '"comment":"Ärger"}']).stream(),
      duplex: "half",
    });
    assert.equal(reply.status, 200);
    assert.equal(admin.gtm.state.orders.regions[0]?.comment, "Ärger");
  });
});

describe("an address", () => {
  const requests: readonly { method: string; path: string; status: number }[] = [
    { method: "GET", path: "/regions/NOWHERE", status: 400 },
    { method: "GET", path: `/regions/${"x".repeat(64)}`, status: 400 },
    { method: "GET", path: "/regions/%00", status: 400 },
    { method: "GET", path: "/regions/..%2f..%2fetc%2fpasswd", status: 400 },
    { method: "GET", path: "/regions/%E0%A4%A", status: 400 },
    { method: "POST", path: "/regions/nowhere/drain", status: 404 },
    { method: "GET", path: "/decisions/1", status: 400 },
    { method: "GET", path: "/decisions?limit=0", status: 400 },
    { method: "GET", path: "/decisions?limit=501", status: 400 },
    { method: "GET", path: "/decisions?limit=abc", status: 400 },
    { method: "GET", path: "/decisions?limit=1&limit=2", status: 400 },
    { method: "GET", path: "/decisions?verdict=lost", status: 400 },
    { method: "GET", path: "/decisions?verdcit=pinned", status: 400 },
    { method: "GET", path: "/conversations?home=paris", status: 400 },
    { method: "GET", path: "/placements?pool=chat", status: 400 },
    { method: "GET", path: "/events?filter=x", status: 400 },
    { method: "POST", path: "/regions/paris/drain?dryrun=true", status: 400 },
    { method: "POST", path: "/regions/paris/drain?dry_run", status: 400 },
    { method: "POST", path: "/regions/paris/drain?dry_run=1", status: 400 },
    { method: "GET", path: "/conversations?region=nowhere", status: 404 },
    { method: "GET", path: `/conversations/${"x".repeat(64)}`, status: 400 },
    { method: "GET", path: "/events?kinds=secrets", status: 400 },
    { method: "PUT", path: "/regions/paris", status: 405 },
    { method: "PATCH", path: "/regions/paris/drain", status: 405 },
    { method: "OPTIONS", path: "/regions/paris/drain", status: 405 },
    { method: "GET", path: "/", status: 404 },
    { method: "GET", path: "/regions/paris/", status: 404 },
  ];
  for (const { method, path, status } of requests) {
    it(`${method} ${path.slice(0, 40)} is ${status} and a problem`, async () => {
      await using admin = await runningAdmin();
      const body = method === "POST" ? { body: { mode: "drain-all", comment: "x" } } : {};
      const reply = await admin.ask(method, path, body);
      assert.equal(reply.status, status);
      assert.equal(reply.body.status, status);
      assert.ok(reply.body.detail.length > 0);
      assert.equal(admin.gtm.state.orders.rev, 0);
    });
  }
});

/** Sends octets and collects what comes back until the other side closes. */
const speak = async (url: string, text: string): Promise<string> => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk.toString("latin1");
  });
  socket.write(text);
  await once(socket, "close");
  return heard;
};

describe("a connection", () => {
  it("that does not speak HTTP is told 400 and closed", async () => {
    await using admin = await runningAdmin();
    assert.match(await speak(admin.url, "\u0016\u0003\u0001 hello\r\n\r\n"), /^HTTP\/1\.1 400/);
    assert.equal((await admin.ask("GET", "/status")).status, 200);
  });
  it("with headers of 17 KB is told 431 and closed", async () => {
    await using admin = await runningAdmin();
    const heard = await speak(
      admin.url,
      `GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(17_000)}\r\n\r\n`,
    );
    assert.match(heard, /^HTTP\/1\.1 431/);
  });
  it("without a Host is refused", async () => {
    await using admin = await runningAdmin();
    assert.match(await speak(admin.url, "GET /api/v1/status HTTP/1.1\r\nConnection: close\r\n\r\n"), /^HTTP\/1\.1 400/);
  });
});

describe("a fault of the GTM itself", () => {
  it("is 500 without its details, which the log has, and is counted", async () => {
    await using admin = await runningAdmin();
    Object.defineProperty(admin.gtm.state, "orders", {
      get: () => {
        throw new TypeError("a detail that is nobody's business");
      },
    });
    const { status, body } = await admin.ask("GET", "/regions");
    assert.deepEqual([status, body.code], [500, "internal-error"]);
    assert.doesNotMatch(JSON.stringify(body), /nobody's business/);
    const bug = admin.lines.find(({ event }) => event === "admin.bug");
    assert.match(String(bug?.fields["stack"]), /nobody's business/);
    assert.equal(await metricValue(admin.metrics, "gtm_admin_bugs_total"), 1);
    assert.equal((await admin.ask("GET", "/version")).status, 200);
  });
});
