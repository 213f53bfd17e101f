/** Overrides by the command line: shown, asked about, given, listed, extended, cancelled. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aRegion } from "#test/support/builders.ts";
import { runCli, type Terminal } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const ADD = ["overrides", "add", "--kind", "deny", "--region", "frank*", "--comment", "contract", "--for", "8h"];
const run = (admin: RunningAdmin, words: readonly string[], terminal: Terminal = {}) =>
  runCli([...words, "--server", admin.url], terminal);
const kinds = (admin: RunningAdmin) => admin.gtm.ports.orders.current().overrides.map(({ kind }) => kind);

describe("gtm overrides add", () => {
  it("--dry-run prints the plan as data and changes nothing", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out, err } = await run(admin, [...ADD, "--dry-run"]);
    assert.deepEqual([exitCode, err], [0, ""]);
    assert.equal(
      out.replace(/\np1-[0-9a-z-]+\n$/, "\np1-…\n"),
      `deny frankfurt for pool *, model *, tenant *, until 2026-11-30 12:00:00Z (in 8 h 0 min)

1 conversation is known, at home in any region: 1 pinned (1 hot), 0 idle. Their next turns:
TO         NOW  UNDER THE ORDER
frankfurt    1                0
paris        0                1
Of 1 the client's network is not known: for them every region is equally far.

1 goes elsewhere with 20 000 tokens: 20 000 to compute again, 4.0 s of one replica's GPUs. First
token p95: now 202 ms, then 4.50 s.
REGION  COMING  TOKENS AGAIN  SPARE TOKENS/S   THEN  KV USED  THEN
paris        1        20 000           5 000  4 978     0.10  0.15

busy with them           llama-70b in paris: KV memory 0.10 → 0.20, prefill 0.00 → 0.00
models without a region  none
models to load first     none

For five minutes --plan-id carries it out only as long as it holds:
p1-…
`,
    );
    assert.deepEqual(kinds(admin), []);
  });
  it("asks on a terminal, and tells how to take it back", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out, err } = await run(admin, ADD, { answers: ["y"] });
    assert.equal(exitCode, 0);
    assert.match(err, /deny frank\*\? \[y\/N\] `gtm overrides cancel [0-9A-Z]{26}` takes it back\.\n$/);
    assert.match(out, /^[0-9A-Z]{26}: deny frank\* for pool \*, model \*, tenant \*, until 2026-11-30 12:00:00Z/);
    assert.deepEqual(kinds(admin), ["deny"]);
  });
  it("is not given on no, nor where nobody is there to be asked", async () => {
    await using admin = await runningAdmin();
    assert.equal((await run(admin, ADD, { answers: ["n"] })).exitCode, 1);
    const { exitCode, err } = await run(admin, ADD);
    assert.equal(exitCode, 2);
    assert.match(err, /add --yes to deny frank\*, or --dry-run/);
    assert.deepEqual(kinds(admin), []);
  });
  it("is refused by a safety rule with exit code 4", async () => {
    const regions = [aRegion("frankfurt"), aRegion("singapore", { placement: null })];
    await using admin = await runningAdmin({ regions });
    for (const manner of ["--yes", "--dry-run"]) {
      const { exitCode, err } = await run(admin, [...ADD, manner]);
      assert.deepEqual([exitCode, /the safety rule minRegionsPerModel/.test(err)], [4, true]);
    }
    assert.equal((await run(admin, [...ADD, "--yes", "--override-rule", "minRegionsPerModel"])).exitCode, 0);
  });
  it("without an end is a usage error", async () => {
    await using admin = await runningAdmin();
    assert.equal((await run(admin, ADD.slice(0, -2))).exitCode, 2);
  });
});

describe("gtm overrides add --kind share", () => {
  const SHARE = ADD.map((word) => (word === "deny" ? "share" : word));
  it("says of how much, and the list shows it", async () => {
    await using admin = await runningAdmin();
    const { exitCode, out } = await run(admin, [...SHARE, "--share", "0.2", "--yes"]);
    assert.equal(exitCode, 0);
    assert.match(out, /^[0-9A-Z]{26}: share 0\.2 frank\* for pool \*/);
    assert.match((await run(admin, ["overrides", "list"])).out, / share 0\.2 +frank\* /);
    assert.equal(admin.gtm.ports.orders.current().overrides[0]?.share, 0.2);
  });
  it("is given another by its id, and shown with what it did in the last minute", async () => {
    await using admin = await runningAdmin();
    await run(admin, [...SHARE, "--share", "0", "--yes"]);
    const id = admin.gtm.ports.orders.current().overrides[0]?.id ?? "";
    admin.gtm.decide({});
    const shown = await run(admin, ["overrides", "show", id]);
    assert.match(shown.out, /In the last minute at this GTM it kept a region from: 1 other turn\.\n$/);
    const { exitCode, out } = await run(admin, ["overrides", "share", id, "--share", "0.5", "--yes"]);
    assert.deepEqual([exitCode, /: share 0\.5 frank\*/.test(out)], [0, true]);
    assert.match((await run(admin, ["overrides", "list", "--region", "paris"])).out, /^OVERRIDE[^\n]*\n?$/);
  });
  it("without a share, with one that is none, or on another kind is a usage error", async () => {
    await using admin = await runningAdmin();
    for (const words of [SHARE, [...SHARE, "--share", "20"], [...SHARE, "--share", ""], [...ADD, "--share", "0.2"]]) {
      assert.equal((await run(admin, [...words, "--yes"])).exitCode, 2);
    }
    assert.deepEqual(kinds(admin), []);
  });
});

describe("gtm force", () => {
  it("sends some traffic to one region", async () => {
    await using admin = await runningAdmin();
    const words = ["force", "paris", "--tenant", "acme", "--comment", "test", "--for", "1h", "--yes"];
    assert.equal((await run(admin, words)).exitCode, 0);
    const [one] = admin.gtm.ports.orders.current().overrides;
    assert.deepEqual([one?.kind, one?.region, one?.tenant], ["force", "paris", "acme"]);
  });
});

describe("an override that stands", () => {
  it("is listed, extended and cancelled", async () => {
    await using admin = await runningAdmin();
    await run(admin, [...ADD, "--yes"]);
    const id = admin.gtm.ports.orders.current().overrides[0]?.id ?? "";
    const list = await run(admin, ["overrides", "list"]);
    assert.match(list.out, /^OVERRIDE +KIND +REGION +POOL +MODEL +TENANT +LEFT +LAST MINUTE +BY +WHY\n/);
    assert.match(
      list.out,
      new RegExp(`\n${id} +deny +frank\\* +\\* +\\* +\\* +8 h 0 min +nobody +loopback +contract\n`),
    );
    const extended = await run(admin, ["overrides", "extend", id, "--for", "30m", "--comment", "nearly done", "--yes"]);
    assert.match(extended.out, /\(in 30 min\): nearly done\n$/);
    const asked = await run(admin, ["overrides", "cancel", id], { answers: ["n"] });
    assert.deepEqual([asked.exitCode, kinds(admin)], [1, ["deny"]]);
    const cancelled = await run(admin, ["overrides", "cancel", id, "--yes"]);
    assert.deepEqual([cancelled.exitCode, cancelled.out, kinds(admin)], [0, `${id}: cancelled\n`, []]);
  });
});
