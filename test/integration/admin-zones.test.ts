/** The zone at the admin API and on the command line: its names, what the parent has to hold, and a check on request. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const CHALLENGE = "_acme-challenge.c.llm.test";
const present = (admin: RunningAdmin) =>
  admin.ask("POST", "/acme-challenges", {
    body: { name: CHALLENGE, value: "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0" },
  });

describe("GET /zones", () => {
  it("names the zone, its servers, how many record sets of each kind, and that nobody checked", async () => {
    await using admin = await runningAdmin();
    await present(admin);
    const { items } = (await admin.ask("GET", "/zones")).body;
    assert.deepEqual(items, [
      {
        ...{ name: "llm.test", serial: 1, rname: "hostmaster.llm.test" },
        nameServers: [
          { name: "ns1.llm.test", ipv4: ["192.0.2.1"], ipv6: [] },
          { name: "ns2.llm.test", ipv4: ["192.0.2.2"], ipv6: [] },
        ],
        records: { zone: 1, pool: 1, region: 1, acme: 1 },
        ttls: { steady: 20, unsettled: 5 },
        lastCheck: null,
      },
    ]);
  });
});

describe("GET /zones/{zone}/records", () => {
  it("shows what is fixed, what is presented, and what steered names answer from each region's place", async () => {
    await using admin = await runningAdmin();
    await present(admin);
    const { items, next_cursor } = (await admin.ask("GET", "/zones/llm.test/records")).body;
    const [ns, pool, region, acme] = items;
    assert.deepEqual(ns, {
      ...{ name: "llm.test", kind: "zone", type: "NS", ttlSeconds: 60, present: null, how: null },
      values: ["ns1.llm.test.", "ns2.llm.test."],
    });
    assert.deepEqual(
      [pool.kind, pool.ttlSeconds, pool.values, pool.how],
      ["pool", null, ["192.0.2.10"], "By decision."],
    );
    assert.deepEqual(
      pool.present.map(({ from, region: to }: { from: string; region: string }) => [from, to]),
      [
        ["frankfurt", "frankfurt"],
        ["paris", "frankfurt"],
        ["singapore", "frankfurt"],
      ],
    );
    assert.equal(region.values[0], "192.0.2.10");
    assert.deepEqual([acme.kind, acme.ttlSeconds, acme.how], ["acme", 1, "Presented: by loopback, for 10 min more."]);
    assert.equal(next_cursor, null);
  });
  it("pages and filters, and of another zone says which there is", async () => {
    await using admin = await runningAdmin();
    const first = (await admin.ask("GET", "/zones/llm.test/records?limit=2")).body;
    assert.equal(first.next_cursor, "chat.llm.test A pool");
    const path = `/zones/llm.test/records?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`;
    const second = (await admin.ask("GET", path)).body;
    assert.deepEqual([second.items.length, second.next_cursor], [1, null]);
    assert.equal(
      (await admin.ask("GET", "/zones/llm.test/records?kind=region")).body.items[0].name,
      "paris.r.llm.test",
    );
    assert.equal((await admin.ask("GET", "/zones/llm.test/records?name=CHAT")).body.items.length, 1);
    for (const path of ["records", "delegation"]) {
      const { status, body } = await admin.ask("GET", `/zones/else.test/${path}`);
      assert.deepEqual([status, body.detail], [404, "There is no zone else.test; there is llm.test."]);
    }
  });
});

describe("the delegation", () => {
  const finding = { subject: "parent zone", id: "ns-missing", severity: "problem", what: "No ns2.", remedy: "Add it." };
  it("is checked on request, while everything else is answered, and what was found stays with its age", async () => {
    await using admin = await runningAdmin();
    const checking = admin.ask("POST", "/zones/llm.test/delegation/check", { body: {} });
    await until(() => admin.gtm.state.checks.length === 1, "the check to begin");
    const meanwhile = (await admin.ask("GET", "/zones/llm.test/delegation")).body;
    assert.deepEqual([meanwhile.isChecking, meanwhile.check, meanwhile.forms[0].name], [true, null, "bind"]);
    admin.gtm.clock.pass(2_000);
    admin.gtm.state.checks[0]?.([finding]);
    assert.deepEqual((await checking).body.check, {
      ...{ at: "2026-11-30T04:00:00.000Z", ageMs: 0, tookMs: 2_000, problems: 1, findings: [finding] },
    });
    admin.gtm.clock.pass(60_000);
    const { items } = (await admin.ask("GET", "/zones")).body;
    assert.deepEqual([items[0].lastCheck.ageMs, items[0].lastCheck.problems], [60_000, 1]);
  });
  it("is not checked for a viewer, nor by a form of another page", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const path = "/zones/llm.test/delegation/check";
    assert.equal((await admin.ask("POST", path, { body: {}, token: tokens.of.viewer })).status, 403);
    assert.equal((await admin.ask("POST", path, { token: tokens.of.operator })).status, 415);
    assert.equal(admin.gtm.state.checks.length, 0);
    assert.equal((await admin.ask("GET", "/zones/llm.test/delegation", { token: tokens.of.viewer })).status, 200);
  });
});

describe("gtm zones", () => {
  it("lists zones and records, a line for each answer of a steered name", async () => {
    await using admin = await runningAdmin();
    const { out: zones } = await runCli(["zones", "list", "--server", admin.url]);
    assert.match(zones, /^llm\.test +1 +ns1\.llm\.test 192\.0\.2\.1, ns2.* +zone 1, pool 1, region 1 +not checked$/m);
    const { out, exitCode } = await runCli(["zones", "records", "--server", admin.url]);
    assert.equal(
      out,
      [
        "NAME              KIND        TTL  TYPE  ANSWER",
        "llm.test          zone         60  NS    ns1.llm.test., ns2.llm.test.",
        "chat.llm.test     pool    decided  A     By decision.",
        "                                           from frankfurt, paris, singapore: frankfurt 192.0.2.10",
        "paris.r.llm.test  region       60  A     192.0.2.10",
        "",
      ].join("\n"),
    );
    assert.equal(exitCode, 0);
  });
  it("asks a running GTM for the lines to paste, and for a check, where no configuration is named", async () => {
    await using admin = await runningAdmin();
    const server = ["--server", admin.url];
    const { out } = await runCli(["zones", "delegation", "--form", "bind", ...server]);
    assert.equal(out, "llm.test. NS ns1.llm.test.\n");
    const checking = runCli(["zones", "delegation", "--check", ...server]);
    await until(() => admin.gtm.state.checks.length === 1, "the check to begin");
    admin.gtm.state.checks[0]?.([
      { subject: "parent zone", id: "ns-missing", severity: "problem", what: "No ns2.", remedy: "Add it." },
    ]);
    const checked = await checking;
    assert.equal(checked.exitCode, 7);
    assert.match(checked.out, /^PARENT ZONE\n {2}problem {2}No ns2\. \(ns-missing\)\n +→ Add it\.\n\n1 problem,/);
    const { exitCode, err } = await runCli(["zones", "delegation", "--ttl", "60", ...server]);
    assert.deepEqual(
      [exitCode, err],
      [2, "gtm: --ttl needs --config: a running GTM asks as its own configuration says\n"],
    );
  });
});
