import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { compareText } from "#gtm/cli/simulate-compare.ts";
import { createProgressLine } from "#gtm/cli/simulate-progress.ts";
import { readReport, reportJson } from "#gtm/cli/simulate-report-file.ts";
import { reportText } from "#gtm/cli/simulate-text.ts";
import { aReport } from "#test/unit/gtm/simulation/report/reports.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-simulate-"));
after(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe("a report on a terminal", () => {
  const text = reportText(aReport(), false);
  it("fits 120 columns", () => {
    for (const line of text.split("\n")) assert.ok(line.length <= 120, `${line.length}: ${line}`);
  });
  it("quotes no mean of a policy whose waits grow", () => {
    const [line = ""] = text.split("\n").filter((one) => one.startsWith("drowned"));
    assert.match(line, /^drowned +grows +grows +grows/);
    assert.match(text, /clients came faster than they were served, to the end/);
  });
  it("sets ours against the best rival, and says where each policy is at its worst", () => {
    assert.match(text, /^steady +1\.4\d +gorgo-like +1\.7\d +−1\d±/m);
    assert.match(text, /^sticky +\+6\d +– +0% +steady/m);
    assert.match(text, /^drowned +– +1 of 1/m);
  });
  it("is coloured only where it may be", () => {
    assert.ok(!text.includes("\u001b"));
    assert.ok(reportText(aReport(), true).includes("\u001b[32m−"));
  });
});

describe("a report as a file", () => {
  it("is read as it was written", () => {
    const path = fileOf("good.json", reportJson(aReport()));
    assert.deepEqual(readReport(path), aReport());
  });
  const faults: readonly (readonly [what: string, text: string, says: RegExp])[] = [
    ["is no JSON", "x", /bad\.json: expected JSON/],
    [
      "is another version's",
      reportJson(aReport()).replace('"version":1', '"version":9'),
      /bad\.json: expected a report.*version/,
    ],
    ["is something else", "{}", /expected a report.*format/],
  ];
  for (const [what, text, says] of faults) {
    it(`is refused when it ${what}`, () => assert.throws(() => readReport(fileOf("bad.json", text)), says));
  }
  it("is refused when it is not there", () =>
    assert.throws(() => readReport(join(folder, "none.json")), /none\.json cannot be read: ENOENT/));
});

describe("two reports", () => {
  it("show no change where there is none", () => {
    assert.match(compareText(aReport(), aReport(), false), /^steady +gtm +2 +1\.4\d +1\.4\d +\+0\.0±0\.0/m);
  });
  it("quote nothing where waits grow, and name what only one has", () => {
    const text = compareText(aReport(), aReport("other"), false);
    assert.match(text, /^overload +drowned +2 +grows +grows +– +–/m);
    assert.match(text, /Only in the first: steady, gorgo-like/);
    assert.match(text, /Only in the second: other, gorgo-like/);
  });
});

describe("the line of progress", () => {
  const told = (
    isInteractive: boolean,
    steps: readonly (readonly [atMs: number, done: number])[],
  ): readonly string[] => {
    const lines: string[] = [];
    let nowMs = 0;
    const line = createProgressLine({ isInteractive, tell: (text) => lines.push(text), epochMs: () => nowMs }, 10);
    for (const [atMs, done] of steps) {
      nowMs = atMs;
      line.show(done, "steady, gtm, seed 1");
    }
    line.clear();
    return lines;
  };
  it("comes once in ten seconds where no terminal is", () => {
    assert.deepEqual(
      told(false, [
        [9_000, 1],
        [10_000, 2],
        [19_000, 3],
        [20_000, 5],
      ]),
      ["20 % of 10 runs, 40 s left: steady, gtm, seed 1\n", "50 % of 10 runs, 20 s left: steady, gtm, seed 1\n"],
    );
  });
  it("is written over on a terminal, and taken away", () => {
    const lines = told(true, [
      [150, 1],
      [200, 2],
      [300, 3],
    ]);
    assert.equal(lines.length, 3);
    assert.ok(lines.every((line) => line.startsWith("\r") && line.length <= 80));
    assert.match(lines[2] ?? "", /^\r +\r$/);
  });
  it("does not guess how long it takes before a fiftieth is done", () => {
    assert.deepEqual(told(false, [[10_000, 0.1]]), ["1 % of 10 runs: steady, gtm, seed 1\n"]);
  });
});
