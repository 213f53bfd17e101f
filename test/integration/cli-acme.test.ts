/** `gtm acme` over a real admin API. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runCli, type Terminal } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const NAME = "_acme-challenge.c.llm.test";
const gtm = (admin: RunningAdmin, words: readonly string[], terminal?: Terminal) =>
  runCli(["acme", ...words, "--server", admin.url], terminal);

describe("gtm acme", () => {
  it("present, list and cleanup do what they say", async () => {
    await using admin = await runningAdmin();
    const presented = await gtm(admin, ["present", `${NAME}.`, "digest", "--for", "30m"]);
    assert.deepEqual([presented.exitCode, presented.out], [0, `${NAME}: answered with digest for 30 min\n`]);
    const { out } = await gtm(admin, ["list"]);
    assert.match(
      out,
      /^NAME +VALUE +PRESENTED BY +ENDS IN\n_acme-challenge\.c\.llm\.test +digest +loopback +30 min\n$/,
    );
    assert.equal((await gtm(admin, ["cleanup", NAME, "other"])).out, `${NAME}: nothing was there\n`);
    assert.equal((await gtm(admin, ["cleanup", NAME, "digest"])).out, `${NAME}: 1 cleaned up\n`);
    assert.deepEqual(JSON.parse((await gtm(admin, ["list", "-o", "json"])).out), { items: [], next_cursor: null });
  });
  it("cleanup of all values asks, and needs --yes where nobody is there", async () => {
    await using admin = await runningAdmin();
    await gtm(admin, ["present", NAME, "digest"]);
    const alone = await gtm(admin, ["cleanup", NAME]);
    assert.equal(alone.exitCode, 2);
    assert.match(alone.err, /add --yes to clean up all/);
    assert.equal((await gtm(admin, ["cleanup", NAME], { answers: ["n"] })).exitCode, 1);
    assert.equal((await gtm(admin, ["cleanup", NAME], { answers: ["y"] })).out, `${NAME}: 1 cleaned up\n`);
  });
  const refused: readonly (readonly [what: string, words: readonly string[], exitCode: number, says: RegExp])[] = [
    ["a name outside the zone", ["present", "_acme-challenge.example.org", "x"], 1, /No challenge can be answered/],
    ["a name without the label", ["present", "c.llm.test", "x"], 2, /name: must begin with _acme-challenge\./],
    ["more than an hour", ["present", NAME, "x", "--for", "2h"], 2, /for: must be from 1s to 1h/],
    ["a name that is full", ["present", "_acme-challenge.spare.llm.test", "x"], 5, /as many values as there may be/],
  ];
  for (const [what, words, exitCode, says] of refused) {
    it(`refuses ${what} with ${exitCode}`, async () => {
      await using admin = await runningAdmin();
      const ran = await gtm(admin, words);
      assert.equal(ran.exitCode, exitCode);
      assert.match(ran.err, says);
    });
  }
  it("tells a lego's token that this is not for it", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const { exitCode, err } = await gtm(admin, ["list"], { env: { GTM_TOKEN: tokens.of.acme } });
    assert.deepEqual([exitCode, err], [1, "gtm: This needs the role viewer; the-acme is acme.\n"]);
  });
});
