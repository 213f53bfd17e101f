/** The recipes of the README, run as they are printed there, against a front door and an engine that wants the key. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { aRegion } from "#test/support/builders.ts";
import { startFrontDoor } from "#test/support/front-door.ts";
import { startTinyEngine } from "#test/support/tiny-engine.ts";

const TOP = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** By name: the code block behind `<!-- recipe: name -->`. */
const recipes = new Map(
  [...readFileSync(join(TOP, "README.md"), "utf8").matchAll(/<!-- recipe: ([\w-]+) -->\n```\w+\n(.*?)```/gs)].map(
    ([, name = "", code = ""]) => [name, code],
  ),
);

const runners: Readonly<
  Record<string, { readonly command: string; readonly args: readonly string[]; readonly says: RegExp }>
> = {
  curl: { command: "sh", args: ["-euc"], says: /"content":"Hello\."/ },
  "openai-node": { command: process.execPath, args: ["--input-type=module", "-e"], says: /^Hello\.$/m },
  "anthropic-node": { command: process.execPath, args: ["--input-type=module", "-e"], says: /^Hello\.$/m },
  httpx: { command: "/usr/bin/python3", args: ["-c"], says: /^Hello\.$/m },
};

describe("the recipes of the README", () => {
  it("are those that are run here", () => {
    assert.deepEqual([...recipes.keys()].toSorted(), Object.keys(runners).toSorted());
  });
  for (const [name, { command, args, says }] of Object.entries(runners)) {
    it(`asks where to go, and goes there with its key and its conversation: ${name}`, async () => {
      await using engine = await startTinyEngine({ needsKey: name !== "anthropic-node" });
      const endpoint = { url: engine.origin, ipv4: [], ipv6: [] };
      await using front = await startFrontDoor({ worldRegions: [aRegion("frankfurt", { endpoint })] });
      const { PATH = "" } = process.env;
      const env = { PATH, GTM: front.url, API_KEY: "sk-secret", NO_PROXY: "127.0.0.1" };
      const { stdout } = await run(command, [...args, recipes.get(name) ?? ""], { cwd: TOP, env, timeout: 60_000 });
      assert.match(stdout, says);
      assert.equal(front.entries.length, 1, "asked the front door once, and was not redirected");
      const [arrived, ...more] = engine.arrived;
      assert.deepEqual(more, []);
      assert.match(arrived?.headers.authorization ?? `Bearer ${arrived?.headers["x-api-key"]}`, /^Bearer sk-secret$/);
      const reading = front.labels.read(String(arrived?.headers["x-gtm-pin"]));
      assert.deepEqual([reading.kind, reading.conversation], ["ours", front.entries[0]?.query.conversationId]);
    });
  }
});
