/** docs/operators.md: each question's command, call and screen are there; the exit codes are those of the command line. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { exitLines } from "#gtm/cli/failure.ts";
import { operationsOf } from "#test/support/api-operations.ts";
import { faultOfWords, wordsOf } from "#test/support/cli-commands.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const text = readFileSync("docs/operators.md", "utf8");
const rows = text
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes("?"))
  .map((line) => line.split("|").map((cell) => cell.trim()));
const codesIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

describe("docs/operators.md", () => {
  it("names commands that there are, with options that they take", async () => {
    assert.ok(rows.length >= 20, `${rows.length} questions`);
    for (const [, question, command = ""] of rows) {
      const lines = codesIn(command);
      assert.ok(lines.length > 0, question);
      for (const line of lines) assert.equal(await faultOfWords(wordsOf(line).slice(1)), null, `${question}: ${line}`);
    }
    assert.match((await faultOfWords(["status", "--nothing"])) ?? "", /unknown option/);
  });
  it("names calls that there are", async () => {
    await using admin = await runningAdmin();
    const there = (await operationsOf(admin)).map(({ method, path }) => `${method} ${path.replace("/api/v1", "")}`);
    for (const [, question, , calls = ""] of rows) {
      for (const call of codesIn(calls)) assert.ok(there.includes(call), `${question}: ${call}`);
    }
  });
  it("names screens that the page has", () => {
    const frame = readFileSync("gtm/wire/admin/dashboard/app/frame.tsx", "utf8");
    for (const [, question, , , places = ""] of rows) {
      for (const place of codesIn(places)) {
        const [, screen = ""] = place.split("/");
        assert.ok(frame.includes(`case "${screen}":`), `${question}: ${place}`);
      }
    }
  });
  it("has the exit codes of the command line, as its help has them", async () => {
    const told = [...text.matchAll(/^\| (\d) \| (.+) \|$/gm)].map(([, code, says]) => `${code}  ${says}`);
    assert.deepEqual(told, exitLines());
    const { out } = await runCli(["--help"]);
    for (const line of exitLines()) assert.ok(out.includes(line), line);
  });
});
