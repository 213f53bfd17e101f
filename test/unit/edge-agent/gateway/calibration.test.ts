import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Calibration, createCalibration } from "#edge-agent/gateway/calibration.ts";
import { type PrefillSpeed, prefillMs, speedOfRate } from "#edge-agent/gateway/replica-speed.ts";

const SPEED: PrefillSpeed = { fixedMs: 12, linMs: 0.125, attnMs: 0.000_002 };
/** Rising evenly and in no order: 0 to 1. */
const spread = (at: number, by = 0.618_034): number => (at * by) % 1;
const turnAt = (at: number) => {
  const tokens = Math.round(200 + 7_800 * spread(at));
  return { tokens, end: tokens + Math.round(60_000 * spread(at, 0.754_878)) };
};

/** @param noise of prefill `at`, a factor */
const observed = (count: number, noise: (at: number) => number, turn = turnAt, speed = SPEED): Calibration => {
  const calibration = createCalibration();
  for (let at = 0; at < count; at++) {
    const { tokens, end } = turn(at);
    const startedAtMs = at * 2_000;
    const endedAtMs = startedAtMs + prefillMs(speed, tokens, end) * noise(at);
    calibration.prefilled(startedAtMs, endedAtMs)({ tokens, end });
  }
  return calibration;
};
const isNear = (actual: number, expected: number, within: number): void =>
  assert.ok(Math.abs(actual / expected - 1) <= within, `${actual}, expected ${expected} within ${within}`);

describe("the speed of a replica", () => {
  it("is found exactly where nothing disturbs, down to the fixed part", () => {
    const speed = observed(40, () => 1).speed(80_000);
    isNear(speed?.linMs ?? 0, SPEED.linMs, 1e-6);
    isNear(speed?.attnMs ?? 0, SPEED.attnMs, 1e-6);
    isNear(speed?.fixedMs ?? 0, SPEED.fixedMs, 1e-6);
  });
  it("predicts within 10 % where each prefill is 20 % off and every fifth takes four times as long", () => {
    const calibration = observed(60, (at) => (at % 5 === 0 ? 4 : 0.8 + 0.4 * spread(at, 0.414_214)));
    const speed = calibration.speed(120_000);
    assert.ok(speed !== null);
    for (const [tokens, end] of [
      [500, 500],
      [1_000, 30_000],
      [8_000, 60_000],
    ] as const) {
      isNear(prefillMs(speed, tokens, end), prefillMs(SPEED, tokens, end), 0.1);
    }
  });
  it("has attention as usual where all prompts look back on the same", () => {
    const rate = speedOfRate(8_000);
    const speed = observed(
      30,
      () => 1,
      (at) => ({ tokens: 1_000 + at, end: 1_000 + at }),
      rate,
    ).speed(60_000);
    isNear(speed?.linMs ?? 0, rate.linMs, 1e-3);
    isNear(speed?.attnMs ?? 0, rate.attnMs, 1e-3);
  });
  it("is that of the few long ones where most are short, which last as long as a step does", () => {
    const rate = speedOfRate(8_000);
    const calibration = observed(
      100,
      (at) => (at % 12 === 0 ? 1 : 30 / prefillMs(rate, 14, 6_000)),
      (at) => (at % 12 === 0 ? { tokens: 2_000 + at, end: 6_000 } : { tokens: 14, end: 6_000 }),
      rate,
    );
    isNear(calibration.speed(200_000)?.linMs ?? 0, rate.linMs, 1e-3);
    assert.equal(calibration.confidence(200_000), 9 / 20);
  });
  it("counts prefills that ended in one step as one observation", () => {
    const calibration = createCalibration();
    for (let at = 0; at < 20; at++) {
      const startedAtMs = at * 2_000;
      const endedAtMs = startedAtMs + prefillMs(speedOfRate(1_000), 1_400, 1_400);
      const first = calibration.prefilled(startedAtMs, endedAtMs);
      const second = calibration.prefilled(endedAtMs, endedAtMs + 1);
      second({ tokens: 700, end: 700 });
      first({ tokens: 700, end: 700 });
    }
    isNear(calibration.speed(40_000)?.linMs ?? 0, 1, 0.02);
  });
});

describe("a number that is not believed", () => {
  it("is not told of fewer than five prefills; confidence is prefills ÷ 20, 1 at most", () => {
    const told = [4, 5, 10, 20, 40].map((count) => {
      const calibration = observed(
        count,
        () => 1,
        (at) => ({ tokens: 600 + 100 * at, end: 9_000 }),
      );
      return [count, calibration.speed(80_000) !== null, calibration.confidence(80_000)];
    });
    assert.deepEqual(told, [
      [4, false, 0],
      [5, true, 0.25],
      [10, true, 0.5],
      [20, true, 1],
      [40, true, 1],
    ]);
  });
  it("is not told where all prefills were short, however many: of their time the engine's step is the most", () => {
    const calibration = observed(
      200,
      () => 1,
      (at) => ({ tokens: 14 + (at % 50), end: 6_000 }),
      { fixedMs: 30, linMs: 0.001, attnMs: 0 },
    );
    assert.deepEqual([calibration.speed(400_000), calibration.confidence(400_000)], [null, 0]);
  });
  it("is not told where times have nothing to do with tokens", () => {
    const calibration = observed(40, (at) => 100 ** (spread(at, 0.302_776) - 0.5));
    assert.deepEqual([calibration.speed(80_000), calibration.confidence(80_000)], [null, 0]);
  });
  it("is not made of prefills of which nobody says what they computed, nor of those whose reply has not ended", () => {
    const calibration = createCalibration();
    for (let at = 0; at < 40; at++) {
      const tell = calibration.prefilled(at * 1_000, at * 1_000 + 200);
      if (at % 2 === 0) tell(null);
    }
    assert.equal(calibration.speed(40_000), null);
  });
  it("is forgotten ten minutes after its prefills, and with the process", () => {
    const calibration = observed(40, () => 1);
    assert.equal(calibration.speed(80_000 + 600_001), null);
    const other = observed(40, () => 1);
    other.clear();
    assert.equal(other.speed(80_000), null);
  });
});
