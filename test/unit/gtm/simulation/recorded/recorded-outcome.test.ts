/** What recorded decisions came to before anything is changed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recordedOutcome } from "#gtm/simulation/recorded/recorded-outcome.ts";

const turn = (id: string, kind: string, region: string | null, predictedTtftMs: number | null) => ({
  ...{ id, kind: "turn", channel: "http", verdict: { kind, region } },
  considered: [
    { region: "elsewhere", cost: { predictedTtftMs: 9_999 } },
    { region, ...(predictedTtftMs === null ? { exclusion: { reason: "down" } } : { cost: { predictedTtftMs } }) },
  ],
});
const outcome = (...rows: readonly object[]) =>
  recordedOutcome({ name: "log", lines: rows.map((row) => JSON.stringify(row)) });

describe("the outcome of recorded decisions", () => {
  it("counts turns by verdict and region, and averages what the chosen regions promised", () => {
    const dns = { id: "x", kind: "cell", channel: "dns", verdict: { kind: "placed", region: "eu" } };
    const rows = [turn("a", "placed", "eu", 100), turn("b", "pinned", "us", 300), turn("c", "pinned", "us", null)];
    assert.deepEqual(outcome(...rows, turn("d", "unserved", null, null), dns), {
      turns: 4,
      verdicts: [
        ["pinned", 2],
        ["placed", 1],
        ["unserved", 1],
      ],
      regions: [
        ["us", 2],
        ["eu", 1],
      ],
      predictedTtftMs: 200,
    });
  });
  it("promises nothing where nothing was", () => {
    assert.equal(outcome(turn("d", "unserved", null, null)).predictedTtftMs, null);
  });
});
