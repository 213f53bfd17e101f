import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../deploy/demo/engine-simulator/main.ts", import.meta.url));

const run = (...args: string[]) => {
  const child = spawn(process.execPath, [MAIN, "--region", "eu-central", "--model", "org/model", ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  return {
    child,
    errors: () => errors,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
};

const firstLine = async (child: ChildProcess): Promise<unknown> => {
  assert.ok(child.stdout !== null);
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error("the process ended without a line");
};

const stopped = async (child: ChildProcess): Promise<number | null> => {
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await exit;
  return code;
};

describe("the engine simulator as a process", () => {
  it("ends with its parent where it is told to, and only there", async () => {
    await using bound = run("--listen", "127.0.0.1:0", "--until-stdin-ends");
    await using free = run("--listen", "127.0.0.1:0");
    await Promise.all([firstLine(bound.child), firstLine(free.child)]);
    const exit = once(bound.child, "exit");
    for (const { child } of [free, bound]) child.stdin.end();
    assert.deepEqual(await exit, [0, null]);
    assert.equal(free.child.exitCode, null);
    assert.equal(await stopped(free.child), 0);
  });

  it("prints one line of JSON when it listens, serves, and ends with 0 at SIGTERM", async () => {
    await using program = run(
      "--listen",
      "127.0.0.1:0",
      "--alias",
      "one",
      "--alias",
      "two",
      "--replicas",
      "3",
      "--cold-start",
      "50ms",
    );
    const line = (await firstLine(program.child)) as { event: string; region: string; address: string; port: number };
    assert.deepEqual(
      { ...line, port: 0 },
      { event: "listening", region: "eu-central", address: "127.0.0.1", port: 0, beside: [] },
    );
    const models = await (await fetch(`http://127.0.0.1:${line.port}/v1/models`)).json();
    assert.deepEqual(
      (models as { data: { id: string }[] }).data.map(({ id }) => id),
      ["org/model", "one", "two"],
    );
    const state = await (await fetch(`http://127.0.0.1:${line.port}/sim/state`)).json();
    assert.equal((state as { replicas: unknown[] }).replicas.length, 3);
    assert.equal(await stopped(program.child), 0);
  });

  it("finishes the answer it is writing when SIGTERM comes", async () => {
    await using program = run("--listen", "127.0.0.1:0", "--itl-ms", "20");
    const { port } = (await firstLine(program.child)) as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({
        model: "org/model",
        messages: [{ role: "user", content: "Hi" }],
        max_tokens: 30,
        stream: true,
      }),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? "";
    const code = stopped(program.child);
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
    assert.match(text, /\[DONE\]\n\n$/);
    assert.equal(await code, 0);
  });

  it("ends with 1 and a named error when the port is taken", async () => {
    await using taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    assert.ok(typeof address === "object" && address !== null);
    await using program = run("--listen", `127.0.0.1:${address.port}`);
    const [code] = await once(program.child, "exit");
    assert.equal(code, 1);
    assert.match(program.errors(), /GTM_LISTEN_FAILED/);
    assert.match(program.errors(), new RegExp(`127\\.0\\.0\\.1:${address.port}.*EADDRINUSE`));
  });

  it("ends with 1 and says what is wrong with an argument", async () => {
    await using program = run("--listen", "127.0.0.1:0", "--cold-start", "soon");
    const [code] = await once(program.child, "exit");
    assert.equal(code, 1);
    assert.match(program.errors(), /--cold-start.*must be a duration with its unit/);
  });
});
