/** The demo as a new user starts it: the story comes out, and what is in its way is named. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, it } from "node:test";
import { runNode } from "#test/support/program.ts";

/** Far from the ports of a demo that somebody has running, and from those that the kernel gives away. */
const anOffset = (): number => 100 + Math.floor(Math.random() * 20_000);

describe("npm run demo -- --script", () => {
  it("tells all of its steps and ends with 0", async () => {
    const { exitCode, stdout, stderr } = await runNode([
      "deploy/demo/main.ts",
      "--script",
      "--port-offset",
      String(anOffset()),
    ]);
    assert.equal(exitCode, 0, `${stdout}\n${stderr}`);
    assert.deepEqual(
      stdout.match(/^(?:ok|FAIL) +\d+\./gm)?.map((line) => line.replaceAll(/ +/g, " ")),
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((step) => `ok ${step}.`),
    );
    for (const policy of ["round robin", "least requests", "sticky", "gtm"])
      assert.match(stdout, new RegExp(`^${policy} +\\d+`, "m"));
    assert.equal(stderr, "", "and nothing went wrong on the way");
  });
});

describe("npm run demo where a port is taken", () => {
  it("names it and ends with 1", async () => {
    const offset = anOffset();
    const taken = createServer().listen(8_080 + offset, "127.0.0.1");
    await once(taken, "listening");
    const { exitCode, stderr } = await runNode(["deploy/demo/main.ts", "--port-offset", String(offset)]);
    taken.close();
    assert.equal(exitCode, 1);
    assert.match(stderr, new RegExp(`^demo: .*127\\.0\\.0\\.1:${8_080 + offset}.*\\n.*\\(GTM_LISTEN_FAILED\\)\\n$`));
  });
});

describe("npm run demo with words that it does not know", () => {
  const cases: readonly { words: readonly string[]; says: RegExp }[] = [
    { words: ["--scrip"], says: /--scrip/ },
    { words: ["--port-offset", "many"], says: /--port-offset must be a whole number/ },
    { words: ["--token", "two words"], says: /--token must be/ },
  ];
  for (const { words, says } of cases) {
    it(`says so: ${words.join(" ")}`, async () => {
      const { exitCode, stderr } = await runNode(["deploy/demo/main.ts", ...words]);
      assert.equal(exitCode, 1);
      assert.match(stderr, says);
    });
  }
});
