import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseFiles } from "../../selection.ts";

const files = ["test/catalogue.test.ts", "test/unit/shared/config.test.ts", "test/unit/shared/units.test.ts"];

describe("a run of tests", () => {
  it("is about all files where nothing is asked", () =>
    assert.deepEqual(chooseFiles(files, []), { chosen: files, idle: [] }));
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["test/unit/shared/config.test.ts"], ["test/unit/shared/config.test.ts"]],
    [["./test/catalogue.test.ts"], ["test/catalogue.test.ts"]],
    [["unit/shared"], ["test/unit/shared/config.test.ts", "test/unit/shared/units.test.ts"]],
    [
      ["units", "catalogue"],
      ["test/catalogue.test.ts", "test/unit/shared/units.test.ts"],
    ],
  ];
  for (const [filters, chosen] of cases) {
    it(`is about ${chosen.length} of three for ${filters.join(" and ")}`, () =>
      assert.deepEqual(chooseFiles(files, filters), { chosen, idle: [] }));
  }
  it("is a mistake where a filter fits nothing", () => {
    assert.deepEqual(chooseFiles(files, ["units", "unist"]).idle, ["unist"]);
  });
});
