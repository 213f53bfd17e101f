/** `gtm token`: tokens made here for the file, and by a GTM for all. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { readTokens } from "#gtm/wire/admin/tokens-file.ts";
import { runCli, type Terminal } from "#test/unit/gtm/cli/fake-io.ts";
import { runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const setUp = async () => {
  const tokens = await tokensFile();
  const admin = await runningAdmin({ tokensFile: tokens.path });
  const run = (words: readonly string[], terminal: Terminal = {}) =>
    runCli(["token", ...words, "--server", admin.url], { env: { GTM_TOKEN: tokens.of.admin }, ...terminal });
  return {
    ...{ tokens, admin, run },
    make: async (name: string, ...more: readonly string[]) => {
      const words = ["create", "--role", "admin", "--name", name, "--for", "30d", "--comment", "c", "-o", "json"];
      return JSON.parse((await run([...words, ...more])).out);
    },
    [Symbol.asyncDispose]: async () => {
      await admin[Symbol.asyncDispose]();
      await tokens[Symbol.asyncDispose]();
    },
  };
};

describe("gtm token create without --server", () => {
  it("makes a line with its limits and its end, which the file takes", async () => {
    await using tokens = await tokensFile();
    const words = ["token", "create", "--role", "operator", "--name", "bob", "--regions", "eu-*, us-1", "--for", "2d"];
    const { exitCode, out } = await runCli([...words, "--tenants", "acme", "-o", "json"]);
    assert.equal(exitCode, 0);
    await writeFile(tokens.path, `${JSON.parse(out).line}\n`);
    const [entry] = readTokens(tokens.path);
    assert.deepEqual(
      [entry?.regions, entry?.pools, entry?.tenants, entry?.expires],
      [["eu-*", "us-1"], undefined, ["acme"], 2 * 86_400_000],
    );
  });
  for (const [what, words, says] of [
    ["a comment", ["--comment", "x"], /--comment and --dry-run go with --server/],
    ["names of another role", ["--names", "a.example.org"], /--names goes with --role acme only/],
    ["a glob with a space", ["--regions", "eu west"], /names or globs/],
    ["an end without a unit", ["--for", "30"], /a duration with its unit/],
  ] as const) {
    it(`is wrong use with ${what}`, async () => {
      const { exitCode, err } = await runCli(["token", "create", "--role", "viewer", "--name", "x", ...words]);
      assert.equal(exitCode, 2);
      assert.match(err, says);
    });
  }
});

describe("gtm token with a GTM", () => {
  it("creates one that the GTM knows, shown once", async () => {
    await using one = await setUp();
    const words = ["create", "--role", "operator", "--name", "bob", "--for", "30d", "--comment", "on call"];
    const { exitCode, out, err } = await one.run([...words, "--regions", "eu-*"]);
    assert.equal(exitCode, 0, err);
    const token = /^token {4}(gtm_\S{43})$/m.exec(out)?.[1];
    assert.match(out, /^may {6}regions eu-\*$/m);
    assert.match(err, /shown once.*GTM_TOKEN/);
    assert.ok(token !== undefined);
    assert.equal((await one.admin.ask("GET", "/whoami", { token })).body.name, "bob");
    const dry = await one.run([...words, "--dry-run"]);
    assert.doesNotMatch(dry.out + dry.err, /gtm_|shown once/);
  });
  it("wants an end and a reason for it", async () => {
    await using one = await setUp();
    const { exitCode, err } = await one.run(["create", "--role", "viewer", "--name", "x"]);
    assert.equal(exitCode, 2);
    assert.match(err, /--for 30d --comment/);
  });
  it("lists them with ages and ends, in a table and a line each", async () => {
    await using one = await setUp();
    const { token } = await one.make("carol", "--pools", "chat");
    await one.admin.ask("GET", "/whoami", { token });
    one.admin.gtm.clock.pass(90_000);
    const { out } = await one.run(["list"]);
    assert.match(out, /^TOKEN +NAME +ROLE +LEFT +USED +MADE +BY +MAY +WHY$/m);
    assert.match(out, /^tk-\S+ +carol +admin +29 d 23 h +90 s ago +90 s ago +the-admin +pools chat +c$/m);
    assert.match(out, /^file-\S+ +the-viewer +viewer +no end +never +the file +everything$/m);
    const lines = (await one.run(["list", "-o", "jsonl"])).out.trim().split("\n");
    assert.equal(lines.length, 5);
  });
  it("extends one, shows it, and revokes it after it was asked", async () => {
    await using one = await setUp();
    const { id, token } = await one.make("carol");
    assert.match((await one.run(["extend", id, "--for", "60d"])).out, /^left +60 d 0 h$/m);
    assert.match((await one.run(["show", id])).out, /^name +carol$/m);
    assert.equal((await one.run(["revoke", id])).exitCode, 2);
    assert.equal((await one.run(["revoke", id], { answers: ["n"] })).exitCode, 1);
    assert.equal((await one.admin.ask("GET", "/whoami", { token })).status, 200);
    const asked = await one.run(["revoke", id], { answers: ["yes"], env: { GTM_TOKEN: one.tokens.of.admin } });
    assert.deepEqual([asked.exitCode, asked.out], [0, `${id}: revoked\n`]);
    assert.match(asked.err, /name +carol[\s\S]*Revoke it\?/);
    assert.equal((await one.admin.ask("GET", "/whoami", { token })).status, 401);
  });
  it("revokes what it made, too", async () => {
    await using one = await setUp();
    const first = await one.make("first");
    one.admin.gtm.clock.pass(1);
    const words = ["create", "--role", "viewer", "--name", "second", "--for", "1d", "--comment", "c", "-o", "json"];
    const second = JSON.parse((await one.run(words, { env: { GTM_TOKEN: first.token } })).out);
    const { out } = await one.run(["revoke", first.id, "--with-made", "--yes"]);
    assert.equal(out, `${first.id}: revoked\n${second.id}: revoked\n`);
  });
  it("is refused by what somebody lacks", async () => {
    await using one = await setUp();
    const { exitCode, err } = await one.run(["list"], { env: { GTM_TOKEN: one.tokens.of.operator } });
    assert.deepEqual([exitCode, err], [1, "gtm: This needs the role admin; the-operator is operator.\n"]);
  });
});
