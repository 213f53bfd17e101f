import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recoveryFigures } from "#gtm/simulation/report/run-recovery.ts";
import type { Happening } from "#gtm/simulation/scenario.ts";
import { aTally, aTurn, FLEET } from "./records.ts";

const DEATH: readonly Happening[] = [
  { kind: "fails", region: 0, atMs: 200_000 },
  { kind: "returns", region: 0, atMs: 260_000 },
];
const figuresOf = (turns: Parameters<typeof aTally>[0], happenings = DEATH) => {
  const [figures] = recoveryFigures([aTally(turns, FLEET, happenings).recoveries]);
  assert.ok(figures !== undefined);
  return figures;
};
const isAbout = (found: number | null | undefined, expected: number) =>
  assert.ok(Math.abs((found ?? Number.NaN) - expected) < 0.005 * expected, `${found}, expected ${expected}`);

describe("a region that dies at 200 s and is back at 260 s", () => {
  const before = aTurn({ askedAtMs: 150_000, ttftMs: 1_000 });
  it("is compared with the turns asked in the time measured before it", () => {
    const figures = figuresOf([before, aTurn({ askedAtMs: 90_000, ttftMs: 9_000 })]);
    isAbout(figures.beforeP95Ms, 1_000);
    isAbout(figures.beforeP95OfPromise, 0.5);
    assert.deepEqual(figures.withinSloBefore, [1, null]);
  });
  it("displaces conversations that were there, by when they ask; of those under way the wait since it died counts", () => {
    const figures = figuresOf([
      before,
      aTurn({ askedAtMs: 190_000, ttftMs: 16_000, failedAttempts: 1, region: 1 }),
      aTurn({ askedAtMs: 215_000, ttftMs: 3_000, previous: 0, region: 1 }),
      // It never was there; it is there no longer; and the region is back.
      aTurn({ askedAtMs: 216_000, ttftMs: 7_000, previous: 1, region: 1 }),
      aTurn({ askedAtMs: 261_000, ttftMs: 7_000, previous: 0, region: 1 }),
      aTurn({ askedAtMs: 199_000, ttftMs: 7_000, region: 1 }),
    ]);
    assert.deepEqual(figures.displacedTurns.slice(0, 7), [1, 1, 0, 0, 0, 0, 0]);
    isAbout(figures.displacedP95Ms[0], 6_000);
    isAbout(figures.displacedP95Ms[1], 3_000);
    isAbout(figures.displacedP95OfPromise[1], 1.5);
  });
  it("has recovered once displaced turns are as near to their promise as first turns were before, within 10 %, for twenty seconds", () => {
    const displaced = (askedAtMs: number, ttftMs: number) => aTurn({ askedAtMs, ttftMs, previous: 0, region: 1 });
    const waits = [displaced(205_000, 5_000), displaced(215_000, 1_050), displaced(225_000, 2_000)];
    assert.equal(figuresOf([before, ...waits, displaced(235_000, 1_000)]).recoveredAfterMs, 30_000);
    assert.equal(figuresOf([before, ...waits]).recoveredAfterMs, 30_000, "nobody displaced asks any more");
    assert.equal(figuresOf(waits).recoveredAfterMs, null, "nothing to compare with");
  });
  it("tells how the others keep their promise meanwhile", () => {
    const others = [1_000, 9_000].map((ttftMs) => aTurn({ askedAtMs: 205_000, ttftMs, previous: 1, region: 1 }));
    const figures = figuresOf([before, aTurn({ askedAtMs: 150_000, region: 1 }), ...others]);
    assert.deepEqual([figures.withinSloBefore[1], figures.withinSloAfter[1]?.[0]], [1, 0.5]);
  });
});

it("a scenario in which no region dies has nothing to recover from", () => {
  assert.deepEqual(recoveryFigures([aTally([aTurn({})]).recoveries]), []);
});
