/** The key files together: everything that is wrong with them at once, and what works and should not stay so. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { labelKeysOf, readableByOthers, readKeys, stampOf } from "#gtm/keys/key-files.ts";
import { keyWarnings } from "#gtm/keys/key-warnings.ts";
import { regionId } from "#test/support/builders.ts";
import { keyFolder, keyOf, ringKey } from "#test/support/key-folder.ts";

const NONE = { identity: null, signing: null, ticket: null, reports: null, cookie: null };

describe("key files", () => {
  it("give labels their keys, the current one first", () => {
    using folder = keyFolder({ signing: [ringKey(8, "next"), ringKey(7), ringKey(6, "old")] });
    const labelKeys = labelKeysOf(readKeys(folder.files));
    assert.deepEqual(
      labelKeys?.signingKeys.map(({ id }) => id),
      [7, 8, 6],
    );
    assert.deepEqual(labelKeys?.identityKey, Buffer.from(keyOf(200)));
  });
  it("that are not configured give none", () => {
    const keys = readKeys(NONE);
    assert.deepEqual(keys, NONE);
    assert.equal(labelKeysOf(keys), null);
  });
  it("name every faulty file at once", () => {
    using folder = keyFolder();
    folder.write(folder.files.identity, "short\n");
    folder.write(folder.files.signing, "");
    rmSync(folder.files.reports);
    assert.throws(
      () => readKeys(folder.files),
      ({ message }: Error) => {
        const lines = message.split("\n");
        assert.match(lines[0] ?? "", /identity\.key:1: expected one key/);
        assert.match(lines[1] ?? "", /signing\.keys: expected a secret, the file is empty/);
        assert.match(lines[2] ?? "", /reports\.keys: .*no such file/);
        return lines.length === 3;
      },
    );
  });
  it("that are folders are unreadable, not a crash", () => {
    using folder = keyFolder();
    const ticket = join(folder.path, "ticket.keys");
    mkdirSync(ticket);
    assert.throws(() => readKeys({ ...NONE, ticket }), { code: "GTM_CONFIG_UNREADABLE", message: /ticket\.keys: / });
  });
});

describe("a stamp of key files", () => {
  it("stays while nothing changes, and changes with content, permissions, time, link and absence", async () => {
    using folder = keyFolder();
    const { files } = folder;
    const seen = [await stampOf(files)];
    assert.equal(await stampOf(files), seen[0]);
    const changes = [
      () => folder.write(files.signing, "x"),
      () => chmodSync(files.signing, 0o640),
      () => utimesSync(files.signing, 1, 1),
      () => rmSync(files.signing),
      () => symlinkSync(files.reports, files.signing),
    ];
    for (const change of changes) {
      change();
      const stamp = await stampOf(files);
      assert.ok(!seen.includes(stamp), stamp);
      seen.push(stamp);
    }
  });
});

describe("warnings of keys", () => {
  const regions = [regionId("eu"), regionId("us")];
  it("there are none of two regions with keys, in files for one user", () => {
    using folder = keyFolder({ reports: { eu: [ringKey(1)], us: [ringKey(2)] } });
    assert.deepEqual(keyWarnings(folder.files, readKeys(folder.files), regions), []);
  });
  it("name regions without a key, keys without a region, and files that everybody can read", () => {
    using folder = keyFolder({ reports: { eu: [ringKey(1)], atlantis: [ringKey(2)] } });
    chmodSync(folder.files.identity, 0o644);
    const said = keyWarnings(folder.files, readKeys(folder.files), regions).join("\n");
    assert.match(
      said,
      /^keys: unsigned reports and measured turns are believed of us\n.*reports\.keys: no region is called atlantis\n.*identity\.key: readable by every user/,
    );
    assert.deepEqual(readableByOthers(folder.files), [folder.files.identity]);
  });
  it("say that without keys labels end with the process", () => {
    assert.match(
      keyWarnings(NONE, readKeys(NONE), regions).join("\n"),
      /^keys: without identity_file.*\nkeys: without cookie_file.*\n.*eu, us$/,
    );
  });
});
