import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_RATES } from "#edge-agent/rates.ts";
import { lastTrusted, meanSpeed, measuredSpeed, prefillCoefficients, speedInUse } from "#edge-agent/speed.ts";
import { speedFromRate } from "#gtm/domain/serving.ts";

const measured = (tokensPerSecond: number, prefills: number, meanTokens = 512) =>
  measuredSpeed({ ...NO_RATES, prefill: { tokensPerSecond, prefills, meanTokens } });

describe("a measured prefill speed", () => {
  it("is believed by the number of prefills, entirely from twenty on", () => {
    assert.deepEqual(measured(8_000, 5), { tokensPerSecond: 8_000, confidence: 0.25 });
    assert.deepEqual(measured(8_000, 20), { tokensPerSecond: 8_000, confidence: 1 });
    assert.deepEqual(measured(8_000, 90), { tokensPerSecond: 8_000, confidence: 1 });
  });
  it("is a guess where all were short, however many", () => {
    assert.deepEqual(measured(700, 10_000, 16), { tokensPerSecond: 700, confidence: 16 / 512 });
    assert.equal(lastTrusted(measured(700, 10_000, 16), null), null);
    assert.deepEqual(measured(7_000, 20, 256), { tokensPerSecond: 7_000, confidence: 0.5 });
    assert.deepEqual(measured(7_000, 20, 9_000), { tokensPerSecond: 7_000, confidence: 1 });
  });
  it("is none without a prefill", () => assert.equal(measuredSpeed(NO_RATES), null));
});

describe("the speed in use", () => {
  it("is the measured one from five prefills on, whatever is configured", () => {
    const speed = measured(6_000, 5);
    assert.equal(speedInUse(speed, lastTrusted(speed, null), 8_000)?.tokensPerSecond, 6_000);
  });
  it("stays the last measured one while nothing is prefilled", () => {
    const before = lastTrusted(measured(6_000, 20), null);
    assert.deepEqual(speedInUse(null, lastTrusted(null, before), 8_000), { tokensPerSecond: 6_000, confidence: 1 });
  });
  it("is not replaced by the guess that four prefills are", () => {
    const before = lastTrusted(measured(6_000, 20), null);
    assert.equal(speedInUse(measured(300, 4), lastTrusted(measured(300, 4), before), null)?.tokensPerSecond, 6_000);
  });
  it("is the configured one, for which somebody vouches, rather than a guess", () => {
    assert.deepEqual(speedInUse(measured(300, 4), null, 8_000), { tokensPerSecond: 8_000, confidence: 1 });
  });
  it("is the guess where there is nothing else, and says how little it is worth", () => {
    assert.deepEqual(speedInUse(measured(300, 4), null, null), { tokensPerSecond: 300, confidence: 0.2 });
  });
  it("is unknown where nobody measured and nobody configured", () => assert.equal(speedInUse(null, null, null), null));
});

describe("a replica of which nothing is known", () => {
  it("does as its like do", () => {
    const speeds = [measured(6_000, 20), null, measured(8_000, 10)];
    assert.deepEqual(meanSpeed(speeds), { tokensPerSecond: 7_000, confidence: 0.75 });
    assert.equal(meanSpeed([null]), null);
  });
});

describe("prefill time from a rate alone", () => {
  it("is the GTM's own formula", () => {
    assert.deepEqual(prefillCoefficients({ tokensPerSecond: 8_000, confidence: 1 }), speedFromRate(8_000));
  });
});
