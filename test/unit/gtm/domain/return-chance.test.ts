/** How the chance of another turn falls with idle time. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createReturnChance, RETURN_STEPS } from "#gtm/domain/return-chance.ts";

const PIN_MS = 900_000;
const NONE_OPEN = new Array<number>(RETURN_STEPS).fill(0);
const learnt = (idleMs: (at: number) => number | null, count = 3_000) => {
  const chance = createReturnChance(PIN_MS);
  for (let at = 0; at < count; at++) {
    const one = idleMs(at);
    if (one === null) chance.stayedAway();
    else chance.returned(one);
  }
  return chance;
};

describe("the chance of a return after idle time, against that of a conversation left just now", () => {
  it("starts at 1 and falls, before anything was seen", () => {
    const byStep = createReturnChance(PIN_MS).byStep(NONE_OPEN);
    assert.equal(byStep.length, RETURN_STEPS);
    assert.equal(byStep[0], 1);
    assert.deepEqual(
      [...byStep],
      byStep.toSorted((a, b) => b - a),
    );
  });
  it("is nothing after a minute where all that return do so within one, and seven of ten never do", () => {
    const byStep = learnt((at) => (at % 10 < 3 ? 30_000 : null)).byStep(NONE_OPEN);
    assert.ok((byStep[5] ?? 1) < 0.06, String(byStep[5]));
  });
  it("stays high where nearly all return, however long it takes", () => {
    const byStep = learnt((at) => (at % 50 === 0 ? null : (at * 17_389) % 800_000)).byStep(NONE_OPEN);
    assert.ok((byStep[30] ?? 0) > 0.9, String(byStep[30]));
  });
  it("counts those that are still away, or those that return soon would count before those that never do", () => {
    const chance = learnt((at) => (at % 2 === 0 ? 5_000 : 400_000), 200);
    const open = NONE_OPEN.map((_, step) => (step === 50 ? 1_000 : 0));
    assert.ok((chance.byStep(NONE_OPEN)[10] ?? 0) > 0.9);
    // Of 1 200, 100 returned at once and 100 later: a sixth, and then a twelfth.
    assert.ok(Math.abs((chance.byStep(open)[10] ?? 0) - 0.55) < 0.05, String(chance.byStep(open)[10]));
  });
  it("follows habits that change", () => {
    const late = learnt((at) => (at % 4 === 0 ? null : 600_000), 4_000);
    assert.ok((late.byStep(NONE_OPEN)[5] ?? 0) > 0.9);
    for (let at = 0; at < 16_000; at++)
      if (at % 4 === 0) late.stayedAway();
      else late.returned(5_000);
    assert.ok((late.byStep(NONE_OPEN)[5] ?? 1) < 0.2, String(late.byStep(NONE_OPEN)[5]));
  });
  it("takes idle times beyond the pin's time, and below 0, as the last step and the first", () => {
    const chance = createReturnChance(PIN_MS);
    chance.returned(PIN_MS * 2);
    chance.returned(-5);
    assert.ok(chance.byStep(NONE_OPEN).every((value) => value >= 0 && value <= 1));
  });
});
