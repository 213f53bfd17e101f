/** `gtm keys region`: the keys of one region's gateways, and that they follow the GTMs'. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { readKeys } from "#gtm/keys/key-files.ts";
import { RegionId } from "#shared/ids.ts";
import type { KeyRing } from "#shared/key-ring.ts";
import { createTicketOpener, createTicketSealer } from "#shared/ticket.ts";
import { regionTicketKeysIn } from "#shared/ticket-keys.ts";
import { ASKED, SEALED_AT_MS, ticketClaims } from "#test/support/tickets.ts";
import { runCli } from "./fake-io.ts";

const EU = RegionId.parse("eu-central");
let dir: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "gtm-region-"));
  await gtm("init");
});
afterEach(() => rmSync(dir, { recursive: true }));

const gtm = (...words: readonly string[]) => runCli(["keys", ...words, "--dir", dir]);
const file = (): string => join(dir, "ticket-eu-central.keys");
const text = (): string => readFileSync(file(), "utf8");
const masters = (): KeyRing => {
  const ticket = join(dir, "ticket.keys");
  return readKeys({ identity: null, signing: null, ticket, reports: null, cookie: null }).ticket ?? [];
};
const opens = async (): Promise<boolean> => {
  const sealed = await createTicketSealer(masters()).seal(EU, ticketClaims(), SEALED_AT_MS);
  const keys = regionTicketKeysIn(text(), file(), EU);
  return (await createTicketOpener({ keys, region: EU }).open(sealed, ASKED, SEALED_AT_MS)).kind === "opened";
};

describe("gtm keys region", () => {
  it("writes a file for its owner only, which opens what the GTMs seal, and says whom it is for", async () => {
    const { exitCode, out, err } = await gtm("region", "eu-central");
    assert.deepEqual([exitCode, out], [0, ""]);
    assert.match(err, /wrote .*ticket-eu-central\.keys: give it to the gateways of eu-central/);
    assert.equal((statSync(file()).mode & 0o777).toString(8), "600");
    assert.ok(await opens());
    for (const { key } of masters()) assert.ok(!text().includes(Buffer.from(key).toString("base64")));
  });
  it("says the same twice", async () => {
    await gtm("region", "eu-central");
    const before = text();
    await gtm("region", "eu-central");
    assert.equal(text(), before);
  });
  it("writes elsewhere where that is asked", async () => {
    await gtm("region", "eu-central", "--out", join(dir, "elsewhere"));
    assert.match(readFileSync(join(dir, "elsewhere"), "utf8"), /^eu-central \d+ current /m);
  });
  it("refuses what is no region, and a folder without ticket.keys", async () => {
    assert.equal((await gtm("region", "EU_Central")).exitCode, 2);
    rmSync(join(dir, "ticket.keys"));
    const { exitCode, err } = await gtm("region", "eu-central");
    assert.equal(exitCode, 5);
    assert.match(err, /ticket\.keys is not there; gtm keys init makes it/);
  });
  it("is followed through each step of a rotation: the region's file has every key that the GTMs have", async () => {
    await gtm("region", "eu-central");
    for (const step of [
      ["rotate", "ticket"],
      ["rotate", "ticket", "--activate"],
      ["drop", "ticket"],
    ]) {
      const { exitCode, err } = await gtm(...step);
      assert.equal(exitCode, 0, err);
      assert.match(err, /ticket-eu-central\.keys follows it: copy it to that region's gateways/);
      assert.ok(await opens(), step.join(" "));
      assert.equal(text().match(/^eu-central /gm)?.length, masters().length);
    }
  });
});
