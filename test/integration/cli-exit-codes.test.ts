/** Each exit code of docs/operators.md, produced once for real. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EXIT } from "#gtm/cli/failure.ts";
import { freePort } from "#test/support/free-port.ts";
import { runCli, type Terminal } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

type Case = {
  readonly name: keyof typeof EXIT;
  readonly words: readonly string[];
  readonly terminal?: Terminal;
  readonly before?: (admin: RunningAdmin) => Promise<unknown>;
  readonly says: RegExp;
};
const WHY = ["--comment", "a test"];
const DRAIN = ["drain", "frankfurt", "--mode", "drain-all", ...WHY, "--yes"];

const CASES: readonly Case[] = [
  { name: "ok", words: ["status"], says: /^$/ },
  { name: "error", words: ["decisions", "show", "01K5Z6V2QW8Y3N4M7R9T0A1B2C"], says: /does not remember decision/ },
  { name: "error", words: ["undrain", "paris"], terminal: { answers: ["n"] }, says: /not confirmed/ },
  { name: "usage", words: ["drain", "paris"], says: /required option/ },
  { name: "usage", words: DRAIN.slice(0, -1), says: /add --yes/ },
  { name: "usage", words: ["what-if", "--deny", "tokyo"], says: /matches none of/ },
  {
    name: "refusedBySafetyRule",
    words: DRAIN,
    before: (admin) => admin.ask("POST", "/regions/paris/down", { body: { comment: "a test" } }),
    says: /refused by the safety rule minRegionsPerModel/,
  },
  { name: "precondition", words: ["operations", "cancel", "OPERATION", "--yes"], says: /has ended/ },
  { name: "waitTimedOut", words: [...DRAIN, "--wait", "2s"], says: /the drain goes on/ },
  { name: "problemsFound", words: ["zones", "delegation", "--check"], says: /./ },
];

describe("gtm exits with", () => {
  for (const { name, words, terminal = {}, before, says } of CASES) {
    it(`${EXIT[name]} (${name}) from gtm ${words.join(" ")}`, async () => {
      await using admin = await runningAdmin();
      await before?.(admin);
      const ended = name === "precondition" ? await endedDrain(admin) : "";
      const told = words.map((word) => (word === "OPERATION" ? ended : word));
      const running = runCli([...told, "--server", admin.url], terminal);
      if (name === "problemsFound") {
        while (admin.gtm.state.checks.length === 0) await new Promise(setImmediate);
        admin.gtm.state.checks[0]?.([
          { severity: "problem", subject: "name servers", id: "lame", what: "ns1 is lame", remedy: null },
        ]);
      }
      const { exitCode, out, err } = await running;
      assert.equal(exitCode, EXIT[name], `${out}${err}`);
      assert.match(name === "problemsFound" ? out : err, says);
    });
  }
  it("3 (unreachable) where nobody listens", async () => {
    const { exitCode, err } = await runCli(["status", "--server", `http://127.0.0.1:${await freePort()}`]);
    assert.deepEqual([exitCode, /connection refused/.test(err)], [EXIT.unreachable, true]);
  });
  it("every code of its table in some case here", () => {
    const held = new Set([...CASES.map(({ name }) => name), "unreachable"]);
    assert.deepEqual([...held].sort(), Object.keys(EXIT).sort());
  });
});

const endedDrain = async (admin: RunningAdmin): Promise<string> => {
  const comment = "a test";
  await admin.ask("POST", "/regions/frankfurt/drain", { body: { mode: "drain-new", comment } });
  const [operation] = (await admin.ask("GET", "/operations")).body.items;
  await admin.ask("POST", "/regions/frankfurt/undrain", { body: {} });
  return operation.id;
};
