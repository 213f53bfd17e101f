/** The command line as a process: streams, exit codes, following the event stream, help. */
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { createCommand } from "#gtm/cli/command.ts";
import { hashOfToken } from "#gtm/wire/admin/token.ts";
import { readTokens } from "#gtm/wire/admin/tokens-file.ts";
import { CONVERSATION } from "#test/support/builders.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const ENTRY = new URL("../unit/gtm/cli/entry.ts", import.meta.url).pathname;

const start = (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, [ENTRY, ...words], { env: { PATH: process.env["PATH"], ...env } });
  const heard = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    heard.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    heard.err += chunk;
  });
  return { child, heard };
};
const finish = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { child, heard } = start(words, env);
  child.stdin.end();
  const [exitCode] = await once(child, "close");
  return { exitCode, ...heard };
};
/** The test's own deadline ends it. */
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
};
const hasReader = async (admin: RunningAdmin): Promise<boolean> =>
  (await metricValue(admin.metrics, "gtm_admin_event_readers")) === 1;
const end = async (child: ChildProcessWithoutNullStreams): Promise<void> => {
  child.kill("SIGINT");
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
};

/** A network in between, which breaks when it is told to. */
const networkTo = async (url: string) => {
  const sockets = new Set<Socket>();
  const port = Number(new URL(url).port);
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}));
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

describe("the process", { timeout: 60_000 }, () => {
  it("writes data to standard output, messages to standard error, and ends with the command's exit code", async () => {
    await using admin = await runningAdmin();
    const status = await finish(["status", "--server", admin.url]);
    assert.match(status.out, /^gtm-1, llm-gtm 0\.1\.0: ready/);
    assert.deepEqual([status.exitCode, status.err], [0, ""]);
    const nobody = await finish(["status", "--server", "http://127.0.0.1:9"]);
    assert.deepEqual([nobody.exitCode, nobody.out], [3, ""]);
  });
  it("without a terminal never waits for an answer", async () => {
    await using admin = await runningAdmin();
    const words = ["drain", "frankfurt", "--mode", "drain-all", "--comment", "x", "--server", admin.url];
    const { exitCode, err } = await finish(words);
    assert.equal(exitCode, 2);
    assert.match(err, /add --yes/);
  });
  it("takes its token from GTM_TOKEN", async () => {
    await using tokens = await tokensFile();
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    const words = ["undrain", "paris", "--yes", "--server", admin.url];
    assert.equal((await finish(words)).exitCode, 1);
    assert.equal((await finish(words, { GTM_TOKEN: tokens.of.operator })).exitCode, 0);
  });
  it("is content when its reader has seen enough", async () => {
    await using admin = await runningAdmin();
    for (let i = 0; i < 400; i++) admin.gtm.decide({ conversationId: CONVERSATION });
    const { child, heard } = start(["decisions", "list", "--limit", "400", "-o", "json", "--server", admin.url]);
    child.stdout.destroy();
    const [exitCode] = await once(child, "close");
    assert.deepEqual([exitCode, heard.err], [0, ""]);
  });
});

describe("gtm decisions tail", { timeout: 60_000 }, () => {
  it("prints a line a decision, as it is made, and stops after --count", async () => {
    await using admin = await runningAdmin();
    const { child, heard } = start(["decisions", "tail", "--count", "2", "-o", "jsonl", "--server", admin.url]);
    await until(() => hasReader(admin));
    const first = admin.gtm.decide({ conversationId: CONVERSATION }).decision.id;
    await until(() => heard.out.includes("\n"));
    const second = admin.gtm.decide().decision.id;
    const [exitCode] = await once(child, "close");
    assert.equal(exitCode, 0);
    assert.deepEqual(
      heard.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
      [first, second],
    );
  });
  it("as a table has a header and one line each", async () => {
    await using admin = await runningAdmin();
    const { child, heard } = start(["decisions", "tail", "--verdict", "pinned", "--server", admin.url]);
    await until(() => hasReader(admin));
    admin.gtm.decide();
    const { decision } = admin.gtm.decide({ conversationId: CONVERSATION });
    await until(() => heard.out.includes(decision.id));
    const lines = heard.out.trimEnd().split("\n");
    assert.equal(lines.length, 2);
    assert.equal(lines[0]?.indexOf("VERDICT"), lines[1]?.indexOf("pinned"));
    await end(child);
  });
  it("goes on after the last decision it saw where the connection breaks", async () => {
    await using admin = await runningAdmin();
    await using network = await networkTo(admin.url);
    const { child, heard } = start(["decisions", "tail", "--count", "3", "-o", "jsonl", "--server", network.url]);
    await until(() => hasReader(admin));
    const ids = [admin.gtm.decide().decision.id];
    await until(() => heard.out.includes("\n"));
    network.cut();
    ids.push(admin.gtm.decide().decision.id, admin.gtm.decide().decision.id);
    const [exitCode] = await once(child, "close");
    assert.equal(exitCode, 0);
    assert.deepEqual(
      heard.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
      ids,
    );
    assert.equal(heard.err, "The stream ended; trying again in 0.5 s.\n");
  });
  it("of a GTM that is not there ends at once", async () => {
    const { exitCode, err } = await finish(["decisions", "tail", "--server", "http://127.0.0.1:9"]);
    assert.equal(exitCode, 3);
    assert.match(err, /cannot reach the GTM/);
  });
});

describe("gtm token create", () => {
  it("prints a token once, and a line that makes the GTM know it", async () => {
    await using tokens = await tokensFile();
    const { exitCode, out, err } = await runCli([
      "token",
      "create",
      "--role",
      "operator",
      "--name",
      "alice",
      "-o",
      "json",
    ]);
    assert.equal(exitCode, 0);
    assert.match(err, /shown once/);
    const made = JSON.parse(out);
    assert.match(made.token, /^gtm_[A-Za-z0-9_-]{43}$/);
    assert.ok(!made.line.includes(made.token));
    await writeFile(tokens.path, `${made.line}\n`);
    assert.deepEqual(readTokens(tokens.path), [{ name: "alice", role: "operator", sha256: hashOfToken(made.token) }]);
    await using admin = await runningAdmin({ tokensFile: tokens.path });
    assert.equal((await admin.ask("GET", "/whoami", { token: made.token })).body.name, "alice");
  });
  it("as a table shows both, and nothing else on standard output", async () => {
    const { out } = await runCli(["token", "create", "--role", "viewer", "--name", "grafana"]);
    assert.match(out, /^token {2}gtm_\S{43}\nline {3}- \{ name: "grafana", role: viewer, sha256: [0-9a-f]{64} \}\n$/);
  });
  it("refuses a name that could be mistaken in a log", async () => {
    const { exitCode, err } = await runCli(["token", "create", "--role", "viewer", "--name", "a b\n"]);
    assert.equal(exitCode, 2);
    assert.match(err, /must be 1 to 128 letters/);
  });
});

describe("gtm check, version, serve", () => {
  it("check is 0 for a configuration that can be used and says what it holds", async () => {
    const { exitCode, out } = await runCli(["check", "--config", "good.yaml"]);
    assert.deepEqual([exitCode, out], [0, "good.yaml: usable. 1 region, 1 pool.\n"]);
  });
  it("check is 1 for one that cannot, and names every fault", async () => {
    const { exitCode, out, err } = await runCli(["check", "--config", "bad.yaml"]);
    assert.deepEqual([exitCode, out], [1, ""]);
    assert.equal(
      err,
      "gtm: bad.yaml cannot be used (2 faults):\nbad.yaml:1:1: version: expected 1\nbad.yaml:2:1: zone: missing\n",
    );
  });
  it("version is the program's", async () => {
    assert.equal((await runCli(["version"])).out, `llm-gtm 0.1.0, node ${process.version}\n`);
    assert.equal((await runCli(["--version"])).out, "0.1.0\n");
  });
  it("serve ends with the exit code of what it ran", async () => {
    assert.equal((await runCli(["serve", "--config", "good.yaml"])).exitCode, 0);
    assert.deepEqual(await runCli(["serve", "--config", "other.yaml"]), { exitCode: 143, out: "", err: "" });
  });
});

describe("help", () => {
  const io = {
    print: () => {},
    tell: () => {},
    isInteractive: false,
    isColourful: false,
    columns: null,
    ask: async () => "",
    env: {},
    epochMs: () => 0,
    sleep: async () => {},
  };
  const program = createCommand(io, {
    version: "0",
    checkConfig: () => ({ summary: "", warnings: [] }),
    configSchema: async () => ({}),
    serve: async () => 0,
  });
  const leaves = program.commands.flatMap((command) =>
    command.commands.length === 0 ? [[command.name()]] : command.commands.map((sub) => [command.name(), sub.name()]),
  );
  for (const words of leaves) {
    it(`of gtm ${words.join(" ")} says what it does and gives examples that are commands`, async () => {
      const { exitCode, out, err } = await runCli([...words, "--help"]);
      assert.deepEqual([exitCode, err], [0, ""]);
      const [, examples = ""] = out.split("\nExamples:\n");
      // What is said after an empty line is no example.
      const [commands = ""] = examples.trimEnd().split("\n\n");
      const lines = commands.split("\n");
      assert.ok(lines.length > 0 && lines.every((line) => line.startsWith(`  gtm ${words.join(" ")}`)), examples);
    });
  }
  it("of gtm names every command and exit code", async () => {
    const { exitCode, out } = await runCli(["--help"]);
    assert.equal(exitCode, 0);
    for (const command of program.commands) assert.match(out, new RegExp(`^ {2}${command.name()}`, "m"));
    assert.match(out, /GTM_TOKEN[\s\S]*Exit codes:/);
  });
  it("is what gtm alone shows, as wrong use", async () => {
    const { exitCode, out, err } = await runCli([]);
    assert.deepEqual([exitCode, out], [2, ""]);
    assert.match(err, /^Usage: gtm/);
  });
});
