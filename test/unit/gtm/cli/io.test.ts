/** What a command sees of its process: streams, questions, colours. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { processIo } from "#gtm/cli/io.ts";

type Wish = {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly env?: Record<string, string>;
};

const aProcess = ({ stdin = true, stdout = true, stderr = true, env = {} }: Wish = {}) => {
  const exits: number[] = [];
  const stream = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY });
  const process = {
    stdin: stream(stdin),
    stdout: stream(stdout),
    stderr: stream(stderr),
    env,
    exit: (code: number) => {
      exits.push(code);
    },
  };
  return { process, exits, io: processIo(process) };
};

describe("whether somebody is there to be asked", () => {
  const cases: readonly { wish: Wish; isThere: boolean }[] = [
    { wish: {}, isThere: true },
    { wish: { stdout: false }, isThere: true },
    { wish: { stdin: false }, isThere: false },
    { wish: { stderr: false }, isThere: false },
  ];
  for (const { wish, isThere } of cases) {
    it(`is ${isThere} with ${JSON.stringify(wish)}`, () => {
      assert.equal(aProcess(wish).io.isInteractive, isThere);
    });
  }
});

describe("whether data is coloured", () => {
  const cases: readonly { wish: Wish; isColourful: boolean }[] = [
    { wish: {}, isColourful: true },
    { wish: { stdout: false }, isColourful: false },
    { wish: { env: { NO_COLOR: "1" } }, isColourful: false },
    { wish: { env: { NO_COLOR: "" } }, isColourful: true },
    { wish: { env: { TERM: "dumb" } }, isColourful: false },
  ];
  for (const { wish, isColourful } of cases) {
    it(`is ${isColourful} with ${JSON.stringify(wish)}`, () => {
      assert.equal(aProcess(wish).io.isColourful, isColourful);
    });
  }
});

describe("a question", () => {
  it("is asked on standard error and answered by a line", async () => {
    const { process, io } = aProcess();
    const answer = io.ask("drain? [y/N] ");
    process.stdin.write("y\n");
    assert.equal(await answer, "y");
    assert.match(String(process.stderr.read()), /drain\? \[y\/N\] /);
    assert.equal(process.stdout.read(), null);
  });
  it("that nobody answers before the input ends is a no", async () => {
    const { process, io } = aProcess();
    const answer = io.ask("drain? [y/N] ");
    process.stdin.end();
    assert.equal(await answer, "");
  });
});

describe("a closed standard output", () => {
  it("ends the command: with 0 where its reader has seen enough, with 1 where writing fails", () => {
    const { process, exits } = aProcess();
    process.stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    process.stdout.emit("error", Object.assign(new Error("write ENOSPC"), { code: "ENOSPC" }));
    assert.deepEqual(exits, [0, 1]);
  });
});
