/** The audit at the admin API and on the command line: who changed what, and who was refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DOWN = { comment: "power failure", for: "1h" };
const entries = async (admin: RunningAdmin, query = "") => (await admin.ask("GET", `/audit${query}`)).body.items;

describe("the audit", () => {
  it("keeps what was ordered, with what was said, newest first", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/frankfurt/down", { body: DOWN });
    await admin.ask("POST", "/regions/frankfurt/up", { body: {} });
    const [up, down] = await entries(admin);
    assert.deepEqual([up.path, down.path], ["/api/v1/regions/frankfurt/up", "/api/v1/regions/frankfurt/down"]);
    assert.deepEqual(
      [down.actor, down.role, down.instance, down.method, down.status, down.body],
      ["loopback", "admin", "gtm-1", "POST", 200, DOWN],
    );
    assert.equal(down.at, "2026-11-30T04:00:00.000Z");
  });

  it("keeps what was refused, and by which rule's name somebody passed", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/frankfurt/undrain", { body: { reason: "a key that there is not" } });
    await admin.ask("POST", "/regions/frankfurt/down?override_rule=minRegionsPerModel", { body: DOWN });
    const [passed, refused] = await entries(admin);
    assert.deepEqual([passed.status, passed.overrideRule], [200, "minRegionsPerModel"]);
    assert.deepEqual([refused.status, refused.overrideRule], [400, null]);
  });

  it("names whoever's role did not suffice, and may be read by them", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const token = tokens.of.viewer;
    await admin.ask("POST", "/regions/paris/down", { token, body: DOWN });
    const { status, body } = await admin.ask("GET", "/audit", { token });
    assert.equal(status, 200);
    assert.deepEqual([body.items[0].actor, body.items[0].role, body.items[0].status], ["the-viewer", "viewer", 403]);
  });

  it("leaves out what only looks: reading, explaining, planning", async () => {
    await using admin = await runningAdmin();
    await admin.ask("GET", "/regions");
    await admin.ask("POST", "/explain", { body: { pool: "chat", client: "192.0.2.1" } });
    await admin.ask("POST", "/regions/frankfurt/down?dry_run=true", { body: DOWN });
    assert.deepEqual(await entries(admin), []);
  });

  it("keeps neither what is no JSON nor what is long, and no more of an address than is read", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/frankfurt/down", { body: "{" });
    await admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "x".repeat(5_000) } });
    await admin.ask("DELETE", `/conversations/${"x".repeat(2_000)}`);
    const [address, long, broken] = await entries(admin);
    assert.deepEqual([address.path.length, long.body, broken.body], [512, null, null]);
  });

  it("comes page by page, and of one person alone", async () => {
    await using admin = await runningAdmin();
    for (let i = 0; i < 5; i++) await admin.ask("POST", "/regions/paris/undrain", { body: {} });
    const first = await admin.ask("GET", "/audit?limit=3");
    const rest = await admin.ask("GET", `/audit?limit=3&cursor=${first.body.next_cursor}`);
    assert.deepEqual([first.body.items.length, rest.body.items.length, rest.body.next_cursor], [3, 2, null]);
    assert.deepEqual(await entries(admin, "?actor=somebody"), []);
  });

  it("cannot be changed", async () => {
    await using admin = await runningAdmin();
    for (const method of ["POST", "PATCH", "DELETE"]) {
      const body = method === "DELETE" ? {} : { body: {} };
      assert.equal((await admin.ask(method, "/audit", body)).status, 405);
    }
  });

  it("is a table on the command line", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/frankfurt/down", { body: DOWN });
    const { exitCode, out } = await runCli(["audit", "--server", admin.url]);
    assert.equal(exitCode, 0);
    assert.equal(
      out,
      `WHEN                  WHO       ROLE   AT     ANSWER  WHAT                          WITH
2026-11-30 04:00:00Z  loopback  admin  gtm-1     200  POST /regions/frankfurt/down  {"comment":"power failure","for":"1h"}
`,
    );
  });
});
