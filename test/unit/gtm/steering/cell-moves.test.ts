/** When cells may move, and how many at once. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cellDemand } from "#gtm/steering/cell-moves.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const KEYS = Array.from({ length: 3_000 }, (_, at) => `chat|model|${(at % 180) - 90}.0,${at / 10}|4`);

/** Runs of seconds at which a cell may move for so little. */
const turnsIn = (key: string, fromMs: number, savingMs: number): number => {
  let turns = 0;
  let was = false;
  for (let nowMs = fromMs; nowMs < fromMs + HOUR_MS; nowMs += 1_000) {
    const is = cellDemand(key, nowMs).savingMs <= savingMs;
    if (is && !was) turns += 1;
    was = is;
  }
  return turns;
};

describe("what a cell's move must save", () => {
  it("is nothing beside the margin once an hour, 5 s four times, 15 s twelve times, and else 60 s", () => {
    const key = KEYS[7] ?? "";
    const seen = new Set(Array.from({ length: 3_600 }, (_, second) => cellDemand(key, second * 1_000).savingMs));
    assert.deepEqual(
      [...seen].toSorted((a, b) => a - b),
      [0, 5_000, 15_000, 60_000],
    );
    // An hour that begins within a turn sees the ends of two.
    for (const one of KEYS.slice(0, 50)) {
      assert.ok([1, 2].includes(turnsIn(one, 12_345_000, 0)), one);
      assert.ok(turnsIn(one, 12_345_000, 5_000) >= 4, one);
      assert.ok(turnsIn(one, 12_345_000, 15_000) >= 12, one);
    }
  });
  it("lets a sixtieth of the cells go for the margin, a fifteenth for 5 s, and a fifth for 15 s, at any moment", () => {
    for (let nowMs = 0; nowMs < HOUR_MS; nowMs += MINUTE_MS) {
      const least = KEYS.map((key) => cellDemand(key, nowMs).savingMs);
      const share = (savingMs: number): number => least.filter((ms) => ms <= savingMs).length / KEYS.length;
      assert.ok(share(0) > 0.006 && share(0) < 0.03, `${share(0)} after ${nowMs} ms`);
      assert.ok(share(5_000) > 0.06 && share(5_000) < 0.11, `${share(5_000)} after ${nowMs} ms`);
      assert.ok(share(15_000) > 0.2 && share(15_000) < 0.32, `${share(15_000)} after ${nowMs} ms`);
    }
  });
});
