/** The edge of a real process: signals, a start that fails, and bugs that nobody caught. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { TOP } from "../architecture/source-files.ts";

type Line = Readonly<Record<string, unknown>>;

/** A program of one part, run by Node as a process of its own. */
const startProgram = (part: { readonly start?: string; readonly stop?: string }) => {
  const program = `
    import { createLifecycle, runUntilSignal } from "#shared/lifecycle.ts";
    import { createLogger } from "#shared/logger.ts";
    import { OperationalError } from "#shared/errors.ts";
    const log = createLogger({ level: "info" });
    let timer;
    const part = {
      name: "part",
      start: async () => { timer = setInterval(() => {}, 1_000); ${part.start ?? ""} },
      stop: async () => { ${part.stop ?? "clearInterval(timer);"} },
    };
    process.exit(await runUntilSignal(createLifecycle([part], { log, stopDeadlineMs: 60_000 }), { log, signals: process }));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: TOP,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Line[] = [];
  const awaited = new Map<string, () => void>();
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    awaited.get(String(line["event"]))?.();
  });
  const ended = new Promise<{ readonly code: number | null; readonly signal: string | null }>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  return {
    lines,
    ended,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Resolves when the event is logged. */
    until: (event: string) =>
      new Promise<void>((resolve) => {
        awaited.set(event, resolve);
        if (lines.some((line) => line["event"] === event)) resolve();
      }),
  };
};

describe("a process that is told to stop", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`by ${signal} stops its part and exits with 0`, async () => {
      const program = startProgram({});
      await program.until("process.started");
      program.kill(signal);
      assert.deepEqual(await program.ended, { code: 0, signal: null });
      assert.deepEqual(
        program.lines.map((line) => line["event"]),
        ["part.started", "process.started", "process.stopping", "part.stopped", "process.stopped"],
      );
    });
  }
  it("twice exits at once, though its part does not stop", async () => {
    const program = startProgram({ stop: "await new Promise(() => {});" });
    await program.until("process.started");
    program.kill("SIGTERM");
    await program.until("process.stopping");
    program.kill("SIGTERM");
    assert.deepEqual(await program.ended, { code: 143, signal: null });
  });
});

describe("a process that cannot go on", () => {
  it("exits with 1 and names the fault when a part does not start", async () => {
    const program = startProgram({ start: 'throw new OperationalError("GTM_LISTEN_FAILED", "port 53 is taken");' });
    assert.deepEqual(await program.ended, { code: 1, signal: null });
    const line = program.lines.find(({ event }) => event === "process.start-failed");
    assert.deepEqual([line?.["code"], line?.["message"]], ["GTM_LISTEN_FAILED", "port 53 is taken"]);
  });
  const bugs: readonly (readonly [string, string])[] = [
    ["an exception that nobody catches", "setImmediate(() => { throw new TypeError('a bug'); });"],
    ["a rejection that nobody catches", "void Promise.reject(new TypeError('a bug'));"],
    ["a bug in a part's start", "throw new TypeError('a bug');"],
  ];
  for (const [what, start] of bugs) {
    it(`exits with 1 and the stack after ${what}`, async () => {
      const program = startProgram({ start });
      assert.deepEqual(await program.ended, { code: 1, signal: null });
      const line = program.lines.find(({ event }) => event === "process.bug");
      assert.match(String(line?.["stack"]), /^TypeError: a bug\n\s+at /);
    });
  }
});

describe("a process whose log cannot be written", () => {
  const program = `
    import { createLogger } from "#shared/logger.ts";
    const log = createLogger({ level: "info" });
    for (let n = 0; n < 3_000; n++) log.info("line", { n, text: "x".repeat(1_000) });
    setTimeout(() => process.exit(7), 50);
  `;
  const run = async (stdout: number | "pipe", stderr: number | "pipe") => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: TOP,
      stdio: ["ignore", stdout, stderr],
    });
    let told = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      told += text;
    });
    // Nobody reads it any more.
    child.stdout?.destroy();
    const [code] = await once(child, "close");
    return { code, told };
  };
  it("lives on a full disk, and says so once", async () => {
    const full = openSync("/dev/full", "w");
    const { code, told } = await run(full, "pipe");
    closeSync(full);
    assert.equal(code, 7, told);
    assert.match(told, /^the log cannot be written, and goes on unwritten: ENOSPC.*\n$/);
  });
  it("lives when nobody reads its log, nor hears of it", async () => {
    const full = openSync("/dev/full", "w");
    assert.equal((await run("pipe", full)).code, 7);
    assert.equal((await run(full, full)).code, 7);
    closeSync(full);
  });
});
