/** `gtm snapshot` and `gtm explain --offline`: one decision, taken away and made again where there is no GTM. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { CONVERSATION } from "#test/support/builders.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-snapshot-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "incident.json");
const asked = ["--pool", "chat", "--client", "203.0.113.7", "--conversation", CONVERSATION, "--prompt-tokens", "21000"];

/** A GTM that is gone when this ends: the file is all that is left. */
const taken = async () => {
  await using admin = await runningAdmin();
  const wrote = await runCli(["snapshot", file, ...asked, "--server", admin.url]);
  const online = await runCli(["explain", ...asked, "--server", admin.url]);
  const onlineJson = await runCli(["explain", ...asked, "-o", "json", "--server", admin.url]);
  return { wrote, online, onlineJson };
};

describe("gtm snapshot", () => {
  it("writes one file, for its owner alone, that gtm explain --offline decides as the GTM did, to the last bit", async () => {
    const { wrote, online, onlineJson } = await taken();
    assert.equal(wrote.exitCode, 0, wrote.err);
    assert.match(wrote.out, /^\S+incident\.json: 0\.0 MB, pinned → frankfurt\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const offline = await runCli(["explain", "--offline", file]);
    assert.equal(offline.exitCode, 0, offline.err);
    // Each question has an id of its own.
    const withoutId = (text: string): string => text.replaceAll(/01KB8Y[0-9A-Z]{20}/g, "ID");
    assert.equal(withoutId(offline.out), withoutId(online.out));
    const offlineJson = await runCli(["explain", "--offline", file, "-o", "json"]);
    assert.equal(withoutId(offlineJson.out), withoutId(onlineJson.out));
    assert.equal(offline.err, "Decided again by the world of gtm-1 at 2026-11-30 04:00:00Z.\n");
  });
  it("holds no credential and no prompt", async () => {
    await taken();
    assert.doesNotMatch(readFileSync(file, "utf8"), /authorization|token"|secret|password|messages|prompt":/i);
  });
  it("cannot be written where nobody may", async () => {
    await using admin = await runningAdmin();
    const words = ["snapshot", join(folder, "missing", "x.json"), ...asked, "--server", admin.url];
    const { exitCode, err } = await runCli(words);
    assert.equal(exitCode, 1);
    assert.match(err, /x\.json: cannot be written: ENOENT/);
  });
  it("needs a question", async () => {
    const { exitCode, err } = await runCli(["snapshot", file, "--pool", "chat"]);
    assert.deepEqual([exitCode, err.split("\n")[0]], [2, "gtm: required option '--client <address>' not specified"]);
  });
});

describe("gtm explain --offline with something changed", () => {
  it("says what it was and what it would be", async () => {
    await taken();
    const drained = await runCli(["explain", "--offline", file, "--region", "frankfurt=drain-all"]);
    assert.equal(drained.exitCode, 0, drained.err);
    assert.match(drained.err, /^It was pinned → frankfurt, it would be displaced → paris\.$/m);
    assert.match(drained.out, /Leaves frankfurt for paris, because frankfurt is being drained\./);
    const shorter = await runCli(["explain", "--offline", file, "--prompt-tokens", "22000", "-o", "json"]);
    assert.equal(JSON.parse(shorter.out).conversation.newTokens, 2_000);
    const wider = await runCli(["explain", "--offline", file, "--policy", "marginMs=700", "-o", "json"]);
    assert.equal(JSON.parse(wider.out).marginMs, 700);
  });
  const refused: readonly { what: string; words: readonly string[]; says: RegExp }[] = [
    {
      what: "a region that it does not have",
      words: ["--region", "mars=down"],
      says: /--region: the snapshot has frankfurt, paris, singapore, not mars/,
    },
    { what: "a state that there is not", words: ["--region", "paris=gone"], says: /regions\.paris/ },
    { what: "a number that is no policy's", words: ["--policy", "luck=7"], says: /luck/ },
    {
      what: "another client",
      words: ["--client", "192.0.2.1"],
      says: /--client: the snapshot is of 203\.0\.113\.0\/24/,
    },
    {
      what: "another conversation",
      words: ["--conversation", "0000000000000"],
      says: /--conversation: the snapshot is of abcdefgh01234/,
    },
    { what: "a pool that it does not have", words: ["--pool", "x"], says: /--pool: the snapshot has chat, not x/ },
    {
      what: "a model that its pool does not have",
      words: ["--model", "gpt"],
      says: /--model: pool chat has llama-70b, not gpt/,
    },
  ];
  for (const { what, words, says } of refused) {
    it(`refuses ${what}, as wrong use`, async () => {
      await taken();
      const { exitCode, out, err } = await runCli(["explain", "--offline", file, ...words]);
      assert.deepEqual([exitCode, out], [2, ""]);
      assert.match(err, says);
    });
  }
  it("needs --offline", async () => {
    const { exitCode, err } = await runCli(["explain", ...asked, "--region", "paris=down"]);
    assert.equal(exitCode, 2);
    assert.match(err, /--region and --policy need --offline/);
  });
});

describe("a file that is no snapshot", () => {
  const cases: readonly { what: string; text: () => string; says: RegExp }[] = [
    { what: "is not there", text: () => "", says: /cannot be read: / },
    { what: "is no JSON", text: () => "{", says: /cannot be read: .*JSON/ },
    {
      what: "is something else",
      text: () => '{"openapi":"3.1.0"}',
      says: /not a snapshot: expected format "llm-gtm snapshot"/,
    },
    {
      what: "is of a later version",
      text: () => readFileSync(file, "utf8").replace('"v":1', '"v":2'),
      says: /v: expected 1, found 2/,
    },
    {
      what: "has a region in no state",
      text: () => readFileSync(file, "utf8").replace('"admin":"active"', '"admin":"asleep"'),
      says: /facts\.world\.regions\.0\.admin: Invalid option/,
    },
    {
      what: "lacks a number of the policy",
      text: () => readFileSync(file, "utf8").replace('"marginMs":50', '"marginMs":"50"'),
      says: /facts\.policy\.marginMs: Invalid input: expected number/,
    },
    {
      what: "has a map that is none",
      text: () => readFileSync(file, "utf8").replace('{"$map":[', '{"$map":["x",'),
      says: /facts: \$map must be a list of pairs, found "x"/,
    },
  ];
  for (const { what, text, says } of cases) {
    it(`that ${what} is refused with the place and what was expected`, async () => {
      await taken();
      const broken = join(folder, "broken.json");
      writeFileSync(broken, text());
      const { exitCode, out, err } = await runCli([
        "explain",
        "--offline",
        what === "is not there" ? "/no/file" : broken,
      ]);
      assert.deepEqual([exitCode, out], [1, ""]);
      assert.match(err, says);
    });
  }
});
