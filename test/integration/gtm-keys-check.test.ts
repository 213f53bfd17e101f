/** `gtm check` and `gtm serve` on key files that cannot be used. */
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { houseYaml } from "#test/support/house.ts";
import { type KeyFolder, keyFolder, ringKey } from "#test/support/key-folder.ts";
import { runNode } from "#test/support/program.ts";

const run = (command: string, { path, files }: KeyFolder) => {
  const keys = { identity_file: files.identity, signing_file: files.signing, reports_file: files.reports };
  const config = join(path, "gtm.yaml");
  writeFileSync(config, JSON.stringify({ ...JSON.parse(houseYaml(() => "http://127.0.3.9:1")), keys }));
  return runNode(["gtm/main.ts", command, "--config", config]);
};

describe("gtm check", () => {
  it("calls sound key files usable, and warns of what should not stay so", async () => {
    using folder = keyFolder({ reports: { "eu-central": [ringKey(1)] } });
    chmodSync(folder.files.identity, 0o644);
    const { exitCode, stdout, stderr } = await run("check", folder);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /usable\. llm\.test: 2 regions, 1 pool\n$/);
    assert.match(stderr, /^warning: keys: unsigned reports and measured turns are believed of us-east$/m);
    assert.match(stderr, /^warning: \S+identity\.key: readable by every user of this machine$/m);
  });
});

for (const command of ["check", "serve"]) {
  describe(`gtm ${command}`, () => {
    it("names every fault of the key files, and ends with 1", async () => {
      using folder = keyFolder();
      folder.write(folder.files.signing, "7 current\n");
      folder.write(folder.files.reports, "EU 1 current 2026-11-30T04:02:11Z x\n");
      const { exitCode, stderr } = await run(command, folder);
      assert.equal(exitCode, 1);
      for (const fault of [
        /signing\.keys:1: expected id, state, time and key/,
        /reports\.keys:1: expected a region's name/,
      ])
        assert.match(stderr, fault);
    });
  });
}
