import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { runCommandLine } from "#edge-agent/main.ts";

const FOLDER = join(import.meta.dirname, "../../../fixtures/engines-more");

type Expected = { readonly files: readonly string[]; readonly engine: string; readonly [field: string]: unknown };
const EXPECTED: Readonly<Record<string, Expected>> = JSON.parse(readFileSync(join(FOLDER, "expected.json"), "utf8"));

const readJson = async (files: readonly string[]) => {
  let data = "";
  const print = (text: string): void => {
    data += text;
  };
  const words = ["read", ...files.map((file) => join(FOLDER, file)), "--json"];
  assert.equal(await runCommandLine(words, { print, tell: () => {}, env: {} }), 0);
  return JSON.parse(data) as {
    engine: string;
    models: readonly Record<string, unknown>[];
    faults: readonly { code: string }[];
  };
};

describe("payloads beyond the captured ones are read by the same rules", () => {
  for (const [name, { files, engine, ...fields }] of Object.entries(EXPECTED)) {
    it(name, async () => {
      const { engine: read, models, faults } = await readJson(files);
      assert.equal(read, engine);
      const [model = {}, ...others] = models;
      assert.deepEqual(others, []);
      for (const [field, wanted] of Object.entries(fields)) {
        const actual = model[field];
        const isClose = typeof actual === "number" && typeof wanted === "number" && Math.abs(actual - wanted) < 1e-6;
        assert.ok(isClose || actual === wanted, `${field}: ${actual} is not ${wanted}`);
        assert.ok(wanted !== null || faults.length > 0, `nothing says why ${field} is not known`);
      }
    });
  }
});
