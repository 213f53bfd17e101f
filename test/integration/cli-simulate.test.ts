/** `gtm simulate` as a process: the same bytes however many threads play, clear refusals, an end by Ctrl-C. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { readReport } from "#gtm/cli/simulate-report-file.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const ENTRY = new URL("../unit/gtm/cli/entry.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "gtm-simulate-"));
after(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string, bytes: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};

const start = (words: readonly string[]) => {
  const child = spawn(process.execPath, [ENTRY, "simulate", ...words], { env: { PATH: process.env["PATH"] } });
  const heard = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    heard.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    heard.err += chunk;
  });
  child.stdin.end();
  const ended = once(child, "close").then(([exitCode]) => exitCode as number);
  return { child, heard, ended };
};
const finish = async (...words: readonly string[]) => {
  const { heard, ended } = start(words);
  return { exitCode: await ended, ...heard };
};

/** Forty prompts that come each second, every second one a continuation of the one before. */
const trace = gzipSync(
  Array.from({ length: 40 }, (_, at) => {
    const hashes = [0, 100 + 2 * Math.floor(at / 2), ...(at % 2 === 0 ? [] : [101 + 2 * Math.floor(at / 2), 500 + at])];
    return JSON.stringify({
      timestamp: at * 1_000,
      input_length: hashes.length * 512,
      output_length: 9,
      hash_ids: hashes,
    });
  }).join("\n"),
);
/** Users need no look at the traffic beforehand, as a load does. */
const SHORT = ["--warm-up", "60s", "--duration", "60s", "--policy", "gtm", "sticky", "nearest"];
const AGENTS = ["--traffic", "agents", "--users", "30"];

describe("gtm simulate", () => {
  it("writes the same report with one thread and with three, and a page", async () => {
    const [one, three] = ["one.json", "three.json"].map((name) => join(folder, name)) as [string, string];
    const page = join(folder, "report.html");
    const first = await finish(...SHORT, ...AGENTS, "--seeds", "2", "--jobs", "1", "--json", one, "--html", page);
    const second = await finish(...SHORT, ...AGENTS, "--seeds", "2", "--jobs", "3", "--json", three);
    assert.deepEqual([first.exitCode, second.exitCode], [0, 0], first.err + second.err);
    assert.equal(readFileSync(one, "utf8"), readFileSync(three, "utf8"));
    assert.equal(first.out, second.out);
    assert.match(readFileSync(page, "utf8"), /^<!doctype html>[\s\S]*steady: agents 30 users[\s\S]*<\/html>\n$/);
    const [scenario] = readReport(one).scenarios;
    assert.deepEqual(
      scenario?.policies.map(({ policy, runs }) => [policy, runs.length]),
      [
        ["gtm", 2],
        ["sticky", 2],
        ["nearest", 2],
      ],
    );
    assert.ok((scenario?.policies[0]?.runs[0]?.turnsServed ?? 0) > 10);

    const compared = await finish("--compare", one, three);
    assert.equal(compared.exitCode, 0);
    assert.match(compared.out, /^steady: agents 30 users +gtm +2 .*\+0\.0±0\.0/m);
  });

  it("replays recorded decisions, and says first what they were and whether affinity helps", async () => {
    const decided = (at: number) => ({
      ...{ id: `d${at}`, at: new Date(1_796_000_000_000 + at * 4_000).toISOString(), channel: "http", kind: "turn" },
      ...{ pool: "chat", model: "llama", client: { area: "48.5,2.0" } },
      conversation: { id: `c${at % 9}`, contextTokens: at < 9 ? 0 : 1_100, newTokens: 1_000 },
      expected: { outputTokens: 100 },
      verdict: { kind: at < 9 ? "placed" : "pinned", region: "eu-central" },
    });
    const lines = Array.from({ length: 27 }, (_, at) => JSON.stringify(decided(at))).join("\n");
    const log = ["--from-decisions", fileOf("decisions.jsonl", lines)];
    const ran = await finish(
      ...log,
      "--policy",
      "gtm",
      "sticky",
      "--seeds",
      "1",
      "--warm-up",
      "0s",
      "--duration",
      "100s",
    );
    assert.equal(ran.exitCode, 0, ran.err);
    assert.match(ran.err, /^Recorded: 27 turns; pinned 18, placed 9; eu-central 27; predicted TTFT - on average\./);
    assert.match(ran.err, /^Affinity (helps|does not help) this traffic on this fleet: /m);
    assert.match(ran.out, /^steady: decisions as recorded {2}/);
    assert.match(ran.out, /^gtm +0\.\d\d /m);
  });

  it("ends by Ctrl-C with the runs that are done", async () => {
    const json = join(folder, "broken.json");
    const long = ["--duration", "2h", "--seeds", "50", "--jobs", "1", "--policy", "nearest", "sticky", "--json", json];
    const config = fileOf(
      "long.yaml",
      "version: 1\nwarm_up: 0s\ntraffic: agents\nusers: 9\nscenarios:\n  - { scenario: steady, name: short, duration: 10s, seeds: 1 }\n  - { scenario: steady, duration: 1000h, seeds: 1 }\npolicies: [nearest]\n",
    );
    assert.match((await finish(...long, "--config", config)).err, /leave out --policy, --seeds, --duration/);
    const { child, heard, ended } = start(["--config", config, "--jobs", "1", "--json", json]);
    await until(() => heard.err.includes("% of 2 runs"));
    child.kill("SIGINT");
    assert.equal(await ended, 1);
    assert.match(heard.err, /broken off: the report holds the runs that were done/);
    assert.match(heard.out, /Broken off/);
    const report = readReport(json);
    assert.equal(report.isComplete, false);
    assert.deepEqual(
      report.scenarios.map(({ name }) => name),
      ["short"],
    );
  });

  const refusals: readonly (readonly [what: string, words: readonly string[], exitCode: number, says: RegExp])[] = [
    ["an unknown scenario", ["--scenario", "stedy"], 2, /no scenario "stedy"; there are steady, uneven-demand, /],
    ["an unknown policy", ["--policy", "best"], 2, /no policy "best"; there are round-robin, .*gtm, oracle/],
    ["an unknown traffic", ["--traffic", "mail"], 2, /--traffic: expected chat, agents, retrieval, mooncake:PATH/],
    ["a load that is none", ["--load", "much"], 2, /Expected a number/],
    [
      "users of a trace that says when its turns come",
      ["--users", "9", "--traffic", `mooncake:${fileOf("open.jsonl.gz", trace)}`],
      2,
      /mooncake says when its turns come, so give a load instead of users/,
    ],
    [
      "users where demand changes",
      ["--users", "9", "--scenario", "flash-crowd"],
      2,
      /demand that changes needs a load/,
    ],
    ["two traffics", ["--traffic", "chat", "--from-decisions", "log"], 2, /leave out one/],
    ["no threads", ["--jobs", "0"], 2, /--jobs takes a whole number of 1 or more, found 0/],
    [
      "a trace that is not there",
      [...SHORT, "--traffic", "claude:/nowhere.gz"],
      1,
      /\/nowhere\.gz: ENOENT[\s\S]*GTM_TRACE_INVALID/,
    ],
    ["a file that it cannot write", [...SHORT, "--json", "/nowhere/x.json"], 1, /\/nowhere\/x\.json cannot be written/],
    ["one file to compare", ["--compare", "a.json"], 2, /--compare takes two files/],
    [
      "a configuration with faults",
      ["--config", fileOf("bad.yaml", "version: 1\nscenarios: [steady]\nlaod: 1\n")],
      1,
      /bad\.yaml:3:1: .*laod/,
    ],
  ];
  for (const [what, words, exitCode, says] of refusals) {
    it(`refuses ${what}`, async () => {
      const ran = await runCli(["simulate", ...words]);
      assert.equal(ran.exitCode, exitCode, ran.err);
      assert.match(ran.err, says);
    });
  }

  it("leaves no empty file behind where it was refused before it began", async () => {
    const json = join(folder, "never.json");
    assert.equal((await runCli(["simulate", "--scenario", "stedy", "--json", json])).exitCode, 2);
    assert.equal(existsSync(json), false);
  });
});
