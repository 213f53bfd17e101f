/** Aligned columns. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { facts, state, table, tableLine } from "#gtm/cli/table.ts";

const ESC = "\u001b";
const COLUMNS = [{ header: "REGION" }, { header: "AGE", align: "right" }, { header: "WHY" }] as const;

describe("a table", () => {
  it("aligns words to the left and numbers to the right, and pads nothing at the end", () => {
    assert.equal(
      table(
        COLUMNS,
        [
          ["eu-central", "0.7 s", ""],
          ["us", "12 s", "because"],
        ],
        false,
      ),
      "REGION        AGE  WHY\neu-central  0.7 s\nus           12 s  because\n",
    );
  });
  it("without rows is its header", () => {
    assert.equal(table(COLUMNS, [], false), "REGION  AGE  WHY\n");
  });
  it("with colours is as wide as without", () => {
    const rows = [[state("healthy"), "1 s", state("down")]];
    const plain = table(COLUMNS, rows, false);
    const colourful = table(COLUMNS, rows, true);
    assert.ok(colourful.includes(`${ESC}[32mhealthy${ESC}[0m`));
    assert.equal(stripVTControlCharacters(colourful), plain);
    assert.ok(!plain.includes(ESC));
  });
  it("that is printed as it happens keeps its columns' widths", () => {
    const columns = [
      { header: "A", width: 6 },
      { header: "B", width: 5, align: "right" },
    ] as const;
    assert.equal(table(columns, [], false), "A           B\n");
    assert.equal(tableLine(columns, ["x", "1"], false), "x           1\n");
    assert.equal(tableLine(columns, ["longer than it", "1"], false), "longer than it      1\n");
  });
});

describe("facts", () => {
  it("put values below one another", () => {
    assert.equal(
      facts([
        ["home", "eu"],
        ["model", "llama"],
      ]),
      "home   eu\nmodel  llama\n",
    );
  });
});
