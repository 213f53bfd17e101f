/** The file of tokens: what it may hold, and that an edit counts at once. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { openTokensFile, readTokens } from "#gtm/wire/admin/tokens-file.ts";
import { OperationalError } from "#shared/errors.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { tokensFile } from "./running-admin.ts";

const parts = () => ({ log: recordingLog(), metrics: createMetrics() });
const refused = (metrics: ReturnType<typeof createMetrics>) =>
  metricValue(metrics, "gtm_admin_tokens_file_refused_total");

describe("a tokens file", () => {
  it("holds the lines that `gtm token create` prints", async () => {
    await using file = await tokensFile();
    assert.deepEqual(
      readTokens(file.path).map(({ name, role }) => [name, role]),
      [
        ["the-viewer", "viewer"],
        ["the-operator", "operator"],
        ["the-admin", "admin"],
        ["the-acme", "acme"],
      ],
    );
  });
  it("may be empty, and then nobody has a token", async () => {
    await using file = await tokensFile();
    await writeFile(file.path, "# nobody yet\n");
    assert.deepEqual(readTokens(file.path), []);
  });
  it("names every fault with its line", async () => {
    await using file = await tokensFile();
    await writeFile(
      file.path,
      "- { name: a b, role: viewer, sha256: 00 }\n- { name: bob, role: root, sha256: 11, colour: red }\n",
    );
    assert.throws(
      () => readTokens(file.path),
      (error) => {
        assert.ok(error instanceof OperationalError);
        assert.equal(error.code, "GTM_CONFIG_INVALID");
        for (const found of [/:1:.*name/, /:1:.*sha256/, /:2:.*role/, /:2:.*colour/])
          assert.match(error.message, found);
        return true;
      },
    );
  });
  it("that does not exist stops the start", async () => {
    await using file = await tokensFile();
    assert.throws(() => openTokensFile(`${file.path}.missing`, parts()), { code: "GTM_CONFIG_UNREADABLE" });
  });
});

describe("an edit of the tokens file", () => {
  it("counts with the next request", async () => {
    await using file = await tokensFile();
    const { log, metrics } = parts();
    const tokens = openTokensFile(file.path, { log, metrics });
    assert.equal(tokens.entries().length, 4);
    await writeFile(file.path, `${file.lines[0]}\n`);
    assert.deepEqual(
      tokens.entries().map(({ name }) => name),
      ["the-viewer"],
    );
    assert.deepEqual(log.lines, [{ level: "info", event: "tokens.read", fields: { tokens: 1 } }]);
    assert.equal(await refused(metrics), 0);
  });
  it("with a fault leaves the tokens before it, warns and is counted, once", async () => {
    await using file = await tokensFile();
    const { log, metrics } = parts();
    const tokens = openTokensFile(file.path, { log, metrics });
    await writeFile(file.path, "- { name: alice }\n");
    assert.equal(tokens.entries().length, 4);
    assert.equal(tokens.entries().length, 4);
    assert.equal(await refused(metrics), 1);
    assert.deepEqual(
      log.lines.map(({ level, event }) => [level, event]),
      [["warn", "tokens.refused"]],
    );
  });
  it("that removes the file leaves the tokens, warns, and a new file counts again", async () => {
    await using file = await tokensFile();
    const { log, metrics } = parts();
    const tokens = openTokensFile(file.path, { log, metrics });
    await rm(file.path);
    assert.equal(tokens.entries().length, 4);
    assert.equal(await refused(metrics), 1);
    await writeFile(file.path, `${file.lines[2]}\n`);
    assert.deepEqual(
      tokens.entries().map(({ name }) => name),
      ["the-admin"],
    );
  });
});
