import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chosenFiles } from "../../selection.ts";

const files = ["test/catalogue.test.ts", "test/unit/shared/config.test.ts", "test/unit/shared/units.test.ts"];

describe("a run of tests", () => {
  it("is about all files where nothing is asked", () => assert.deepEqual(chosenFiles(files, []), files));
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
      assert.deepEqual(chosenFiles(files, filters), chosen));
  }
  it("is a mistake where a filter fits nothing", () => {
    assert.throws(() => chosenFiles(files, ["units", "unist"]), /^Error: no test file fits unist$/);
  });
});
