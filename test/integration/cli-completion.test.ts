/** The completion script in a real bash: what it offers where, also what only a running GTM knows. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { runNode } from "#test/support/program.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-completion-"));
const MAIN = new URL("../../gtm/main.ts", import.meta.url).pathname;
let admin: RunningAdmin;
before(async () => {
  admin = await runningAdmin();
  const { exitCode, out } = await runCli(["completion", "bash"]);
  assert.equal(exitCode, 0);
  writeFileSync(join(folder, "gtm.bash"), out);
  writeFileSync(join(folder, "gtm"), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
  chmodSync(join(folder, "gtm"), 0o755);
  writeFileSync(join(folder, "ask.bash"), ASK);
});
after(async () => {
  await admin[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** As bash's own completion calls a function: the words before the cursor, the last of them unfinished. */
const ASK = `source "$1/gtm.bash"
PATH="$1:$PATH"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_gtm
printf '%s\\n' "\${COMPREPLY[@]}"
`;

const offeredFor = async (...words: readonly string[]): Promise<readonly string[]> => {
  // Not waited for in this thread: the GTM that is asked lives in it.
  const asked = ["--norc", join(folder, "ask.bash"), folder, "gtm", ...words];
  const { stdout } = await promisify(execFile)("bash", asked, { cwd: folder });
  return stdout.split("\n").filter((line) => line !== "");
};

describe("in bash", () => {
  it("the script is one that bash can read", () => {
    execFileSync("bash", ["-n", join(folder, "gtm.bash")]);
  });
  const cases: readonly { typed: readonly string[]; offers: readonly string[] }[] = [
    { typed: ["dec"], offers: ["decisions"] },
    { typed: ["decisions", ""], offers: ["list", "show", "tail"] },
    { typed: ["completion", ""], offers: ["bash", "zsh", "fish"] },
    { typed: ["drain", "x", "--mo"], offers: ["--mode", "--model"] },
    { typed: ["drain", "x", "--mode", ""], offers: ["drain-new", "drain-all"] },
    { typed: ["decisions", "tail", "--verdict", "p"], offers: ["pinned", "placed"] },
    { typed: ["status", "-o", "j"], offers: ["json", "jsonl"] },
    { typed: ["explain", "--offline", "ask"], offers: ["ask.bash"] },
    { typed: ["decisions", "show", ""], offers: [] },
    { typed: ["nothing", "like", "this"], offers: [] },
  ];
  for (const { typed, offers } of cases) {
    it(`gtm ${typed.join(" ")}⇥ offers ${offers.join(" ") || "nothing"}`, async () => {
      assert.deepEqual([...(await offeredFor(...typed))].sort(), [...offers].sort());
    });
  }
  it("regions and pools are those of the GTM that --server names", async () => {
    // Bash takes an address apart at its colons.
    const { port } = new URL(admin.url);
    const server = ["--server", "http", ":", "//127.0.0.1", ":", port];
    // A person would not wait where this machine is busy, and nothing is offered then.
    await until(async () => (await offeredFor("drain", ...server, "")).join() === "frankfurt,paris,singapore");
    await until(async () => (await offeredFor("explain", ...server, "--pool", "c")).join() === "chat");
  });
  it("a GTM that is away offers nothing, says nothing and is no error", async () => {
    const { exitCode, stdout, stderr } = await runNode([
      MAIN,
      "completion",
      "values",
      "regions",
      "--server",
      "http://127.0.0.1:9",
    ]);
    assert.deepEqual([exitCode, stdout, stderr], [0, "", ""]);
  });
});

describe("for the other shells", () => {
  it("every command and option is in the script", async () => {
    for (const shell of ["zsh", "fish"]) {
      const { exitCode, out } = await runCli(["completion", shell]);
      assert.equal(exitCode, 0);
      for (const word of [
        "decisions",
        "tail",
        "drain",
        "override-rule",
        "live regions|__gtm_live regions",
        "drain-all",
      ]) {
        assert.match(out, new RegExp(word), `${shell}: ${word}`);
      }
    }
  });
});
