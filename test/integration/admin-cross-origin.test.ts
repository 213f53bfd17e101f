/** What a page of somewhere else can make a browser send to the admin API: forms, fetches, rebound names; and floods of bad tokens. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createToken } from "#gtm/wire/admin/token.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DRAIN = JSON.stringify({ mode: "drain-all", comment: "x" });

describe("without tokens, where whoever reaches loopback is an admin,", () => {
  const shapes: readonly {
    what: string;
    method?: string;
    headers: Record<string, string>;
    body?: string;
    status: number;
  }[] = [
    {
      what: "a form",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "mode=drain-all&comment=x",
      status: 415,
    },
    {
      what: "a form with files",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: DRAIN,
      status: 415,
    },
    { what: "JSON as text/plain", headers: { "content-type": "text/plain" }, body: DRAIN, status: 415 },
    {
      what: "JSON behind another type",
      headers: { "content-type": "text/plain; application/json" },
      body: DRAIN,
      status: 415,
    },
    { what: "JSON without a type", headers: { "content-type": "" }, body: DRAIN, status: 415 },
    { what: "a JSON-like type", headers: { "content-type": "application/json-patch+json" }, body: DRAIN, status: 415 },
    {
      what: "JSON of another site",
      headers: { "content-type": "application/json", "sec-fetch-site": "cross-site" },
      body: DRAIN,
      status: 403,
    },
    {
      what: "JSON of another port of this host",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-site" },
      body: DRAIN,
      status: 403,
    },
    {
      what: "JSON of another origin, from a browser that says no site",
      headers: { "content-type": "application/json", origin: "https://evil.example.org" },
      body: DRAIN,
      status: 403,
    },
    {
      what: "JSON of a page without an origin",
      headers: { "content-type": "application/json", origin: "null" },
      body: DRAIN,
      status: 403,
    },
    {
      what: "the same with a cookie",
      headers: { "content-type": "application/json", origin: "https://evil.example.org", cookie: "session=1" },
      body: DRAIN,
      status: 403,
    },
    {
      what: "a GET that means to be a POST",
      method: "GET",
      headers: { "x-http-method-override": "POST", "x-method-override": "POST" },
      status: 405,
    },
    {
      what: "a form field that means another method",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "_method=POST",
      status: 415,
    },
  ];
  for (const { what, method = "POST", headers, body, status } of shapes) {
    it(`${what} is ${status} and changes nothing`, async () => {
      await using admin = await runningAdmin();
      const response = await fetch(`${admin.url}/api/v1/regions/paris/drain`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      assert.equal(response.status, status);
      assert.equal(response.headers.get("access-control-allow-origin"), null);
      assert.equal(admin.gtm.state.orders.rev, 0);
    });
  }
  it("the page's own requests pass, and so do programs, which say nothing of a site", async () => {
    await using admin = await runningAdmin();
    for (const headers of [
      { "sec-fetch-site": "same-origin", origin: admin.url },
      { "sec-fetch-site": "none" },
      { origin: admin.url },
      {},
    ]) {
      assert.equal((await admin.ask("GET", "/status", { headers })).status, 200, JSON.stringify(headers));
    }
    // Somebody follows a link to it: the page itself says nothing.
    const page = await fetch(`${admin.url}/`, {
      headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    });
    assert.equal(page.status, 200);
    await page.body?.cancel();
  });
  it("a page elsewhere cannot take the event streams", async () => {
    await using admin = await runningAdmin();
    const { status, body } = await admin.ask("GET", "/events", { headers: { "sec-fetch-site": "cross-site" } });
    assert.deepEqual([status, body.code], [403, "cross-origin"]);
    assert.equal(await metricValue(admin.metrics, "gtm_admin_event_readers"), 0);
  });
  it("a preflight is not answered with leave", async () => {
    await using admin = await runningAdmin();
    const headers = { origin: "https://evil.example.org", "access-control-request-method": "DELETE" };
    const response = await fetch(`${admin.url}/api/v1/overrides/x`, { method: "OPTIONS", headers });
    assert.equal(response.status, 403);
    assert.deepEqual(
      [...response.headers.keys()].filter((name) => name.startsWith("access-control")),
      [],
    );
  });
});

describe("many tokens that are none", () => {
  it("are told to wait, while a valid one from the same address gets in at once", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const statuses: number[] = [];
    for (let times = 0; times < 70; times++)
      statuses.push((await admin.ask("GET", "/status", { token: createToken() })).status);
    assert.deepEqual(
      [statuses.filter((one) => one === 401).length, statuses.filter((one) => one === 429).length],
      [60, 10],
    );
    const refused = await admin.ask("GET", "/status", { token: createToken() });
    assert.deepEqual([refused.body.code, refused.headers.get("retry-after")], ["too-many-failures", "2"]);
    assert.equal((await admin.ask("GET", "/status", { token: tokens.of.viewer })).status, 200);
    assert.equal((await admin.ask("GET", "/status")).status, 401);
    assert.equal(await metricValue(admin.metrics, "gtm_admin_auth_failures_total", { cause: "unknown" }), 71);
    const told = admin.lines.filter(({ event }) => event === "admin.logins-failing");
    assert.deepEqual(
      told.map(({ fields }) => fields["network"]),
      ["127.0.0.0/24"],
    );
  });
});
