/** `gtm keys`: what it makes, keeps, changes and never shows. */
import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import { readKeys } from "#gtm/keys/key-files.ts";
import { keyIn } from "#shared/key-text.ts";
import { houseYaml } from "#test/support/house.ts";
import { runCli } from "./fake-io.ts";

let top: string;
let dir: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "gtm-keys-"));
  dir = join(top, "made", "keys");
});
afterEach(() => rmSync(top, { recursive: true }));

const gtm = (...words: readonly string[]) => runCli(["keys", ...words, "--dir", dir]);
const init = (...words: readonly string[]) => gtm("init", ...words);
const read = (name: string): string => readFileSync(join(dir, name), "utf8");
const all = (): string => readdirSync(dir).map(read).join("");
const permissions = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const listed = async (): Promise<readonly string[]> => {
  const { out } = await gtm("list", "-o", "jsonl");
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .map(({ ring, region, state }) => [ring, region, state].filter((word) => word !== null).join(" "));
};

describe("gtm keys init", () => {
  it("makes five files and one a region, for their owner only, and prints lines that the configuration takes", async () => {
    const { exitCode, out, err } = await init("--region", "eu-central");
    assert.equal(exitCode, 0);
    const names = [
      "cookie.keys",
      "identity.key",
      "report-eu-central.key",
      "reports.keys",
      "signing.keys",
      "ticket.keys",
    ];
    assert.deepEqual(readdirSync(dir).toSorted(), names);
    assert.equal(permissions(dir), "700");
    for (const name of names) {
      assert.equal(permissions(join(dir, name)), "600", name);
      assert.match(err, new RegExp(`^made {2}${join(dir, name).replaceAll(".", "\\.")}`, "m"));
    }
    const { keys } = parseGtmConfig(`${out}${yamlOf("http://127.0.3.9:1")}`, "pasted", {});
    assert.equal(readKeys(keys).reports?.size, 1);
    assert.equal(keyIn(read("report-eu-central.key").trim())?.length, 32);
  });
  it("keeps what is there, says so, and adds what is missing", async () => {
    await init("--region", "eu-central");
    const before = { signing: read("signing.keys"), reports: read("reports.keys") };
    rmSync(join(dir, "ticket.keys"));
    const { exitCode, err } = await init("--region", "eu-central", "--region", "us-east");
    assert.equal(exitCode, 0);
    assert.match(err, /^kept {2}\S*signing\.keys: it was there already$/m);
    assert.match(err, /^made {2}\S*ticket\.keys$/m);
    assert.match(err, /^kept {2}\S*reports\.keys: it was there already; added us-east$/m);
    assert.equal(read("signing.keys"), before.signing);
    assert.ok(read("reports.keys").startsWith(before.reports));
  });
  it("makes keys for the regions of a configuration", async () => {
    const config = join(top, "gtm.yaml");
    writeFileSync(
      config,
      houseYaml(() => "http://127.0.3.9:1"),
    );
    await init("--config", config);
    assert.deepEqual(await listed(), [
      ...["identity current", "signing current", "ticket current", "cookie current"],
      ...["reports eu-central current", "reports us-east current"],
    ]);
  });
  it("touches nothing where a file that is there is faulty, or the folder cannot be", async () => {
    await init();
    writeFileSync(join(dir, "signing.keys"), "x\n");
    rmSync(join(dir, "ticket.keys"));
    const faulty = await init();
    assert.deepEqual([faulty.exitCode, readdirSync(dir).includes("ticket.keys")], [1, false]);
    assert.match(faulty.err, /signing\.keys:1: expected id/);
    writeFileSync(join(top, "file"), "");
    const { exitCode, err } = await runCli(["keys", "init", "--dir", join(top, "file", "keys")]);
    assert.equal(exitCode, 1);
    assert.match(err, /cannot be written: ENOTDIR/);
  });
  it("refuses a region that is no name", async () => {
    assert.equal((await init("--region", "EU")).exitCode, 2);
  });
});

describe("gtm keys rotate and drop", () => {
  it("makes secrets of cookies as long as cookies need them", async () => {
    await init();
    const { exitCode } = await runCli(["keys", "rotate", "cookie", "--dir", dir]);
    assert.equal(exitCode, 0);
    const lengths = [...read("cookie.keys").matchAll(/ (\S+)$/gm)].map(([, key = ""]) => keyIn(key)?.length);
    assert.deepEqual(lengths.slice(-2), [16, 16]);
  });
  it("change the signing key in three steps, each only when it is its turn", async () => {
    await init();
    const signing = async () => (await listed()).filter((line) => line.startsWith("signing"));
    const steps: readonly (readonly [string, number, readonly string[]])[] = [
      ["drop signing", 5, ["signing current"]],
      ["rotate signing --activate", 5, ["signing current"]],
      ["rotate signing", 0, ["signing next", "signing current"]],
      ["rotate signing", 5, ["signing next", "signing current"]],
      ["rotate signing --activate", 0, ["signing current", "signing old"]],
      ["drop signing", 0, ["signing current"]],
    ];
    for (const [line, exitCode, after] of steps) {
      assert.deepEqual([line, (await gtm(...line.split(" "))).exitCode, await signing()], [line, exitCode, after]);
    }
  });
  it("give the agents of a region their next key when it is used, not before", async () => {
    await init("--region", "eu-central");
    const first = read("report-eu-central.key");
    await gtm("rotate", "reports", "eu-central");
    assert.equal(read("report-eu-central.key"), first);
    assert.equal((await gtm("rotate", "reports", "eu-central", "--activate")).exitCode, 0);
    const second = read("report-eu-central.key");
    assert.notEqual(second, first);
    assert.ok(read("reports.keys").includes(`${second.trim()}\n`) && read("reports.keys").includes(first.trim()));
    const third = await gtm("rotate", "reports", "eu-central");
    assert.deepEqual([third.exitCode, /drop the old ones/.test(third.err)], [5, true]);
    await gtm("drop", "reports", "eu-central");
    assert.ok(!read("reports.keys").includes(first.trim()));
  });
  it("keep who may read a file, and a link a link", async () => {
    await init();
    const file = join(dir, "signing.keys");
    chmodSync(file, 0o640);
    const link = join(top, "linked");
    symlinkSync(dir, link);
    assert.equal((await runCli(["keys", "rotate", "signing", "--dir", link])).exitCode, 0);
    assert.equal(permissions(file), "640");
    assert.deepEqual(
      readdirSync(dir).filter((name) => name.startsWith(".")),
      [],
    );
  });
  const refused: readonly (readonly [string, number, RegExp])[] = [
    ["rotate signing eu-central", 2, /not any region's/],
    ["rotate reports", 2, /say which region's/],
    ["rotate reports us-east", 5, /has no key of us-east/],
    ["rotate identity", 2, /Allowed choices/],
  ];
  for (const [line, exitCode, says] of refused) {
    it(`refuse: ${line}`, async () => {
      await init("--region", "eu-central");
      const ran = await gtm(...line.split(" "));
      assert.equal(ran.exitCode, exitCode);
      assert.match(ran.err, says);
    });
  }
  it("refuse a folder without keys", async () => {
    const { exitCode, err } = await gtm("rotate", "signing");
    assert.equal(exitCode, 5);
    assert.match(err, /gtm keys init makes it/);
  });
});

describe("gtm keys list", () => {
  it("shows ids, states and ages, and of no key more than a fingerprint", async () => {
    await init("--region", "eu-central");
    await gtm("rotate", "signing");
    const keys = [...all().matchAll(/[A-Za-z0-9+/]{43}=/g)].map(([key]) => key);
    assert.equal(keys.length, 6);
    for (const format of ["table", "json", "jsonl"]) {
      const { exitCode, out, err } = await gtm("list", "-o", format);
      assert.equal(exitCode, 0);
      assert.match(out, /signing/);
      for (const key of keys) assert.ok(!`${out}${err}`.includes(key.slice(0, 12)), format);
    }
    const { out } = await gtm("list");
    assert.match(out, /^RING +REGION +ID +STATE +MADE +AGE +FINGERPRINT\n/);
    assert.match(out, /^reports +eu-central +\d+ +current +1970-01-01 00:00:00Z +0\.0 s +[0-9a-f]{8}$/m);
  });
  it("names the files that are not there", async () => {
    const { exitCode, err } = await gtm("list");
    assert.deepEqual([exitCode, err.match(/is not there/g)?.length], [0, 5]);
  });
});

const yamlOf = (url: string): string =>
  Object.entries(JSON.parse(houseYaml(() => url)))
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join("");
