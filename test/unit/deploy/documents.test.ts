/** The documents beside the code: what they link to exists, what they tell people to type does too. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
/** Commands of npm itself. */
const NPM_COMMANDS = new Set(["ci", "test"]);

for (const path of [
  "CONTRIBUTING.md",
  "SECURITY.md",
  "deploy/README.md",
  "deploy/redis/README.md",
  "terraform/README.md",
]) {
  describe(path, () => {
    const text = readFileSync(path, "utf8");

    it("links to files that are there", () => {
      const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((found) => found[1] ?? "");
      assert.deepEqual(
        targets.filter((target) => !existsSync(join(dirname(path), target))),
        [],
      );
    });

    it("names npm scripts that package.json has", () => {
      const named = [...text.matchAll(/\bnpm run ([\w-]+)/g)].map((found) => found[1] ?? "");
      const typed = [...text.matchAll(/^npm (\w+)/gm)].map((found) => found[1] ?? "");
      assert.deepEqual(
        [
          ...named.filter((name) => !(name in scripts)),
          ...typed.filter((one) => one !== "run" && !NPM_COMMANDS.has(one)),
        ],
        [],
      );
    });

    it("names folders of this repository that are there", () => {
      const named = [...text.matchAll(/`((?:shared|gtm|edge-agent|deploy|terraform|test)\/[\w./-]*)`/g)];
      const missing = named.map((found) => found[1] ?? "").filter((folder) => !existsSync(folder));
      assert.deepEqual(missing, []);
    });
  });
}
