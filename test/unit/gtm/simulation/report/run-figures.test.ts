import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RunFigures, runFigures } from "#gtm/simulation/report/run-figures.ts";
import { seriesFigures } from "#gtm/simulation/report/run-series.ts";
import type { TurnRecord } from "#gtm/simulation/turn-record.ts";
import { aFleetRegion, aTally, aTurn, FLEET } from "./records.ts";

const figuresOf = (turns: readonly TurnRecord[], fleet = FLEET, unfinished = 0): RunFigures =>
  runFigures(aTally(turns, fleet), { seed: 1, replicas: 2, measuredMs: 300_000, unfinished });

describe("a run of which 300 s are measured after 100 s of warm-up", () => {
  it("counts turns by when they were asked: at 100 s and at 399 s, not at 99 s nor at 400 s", () => {
    const turns = [99_999, 100_000, 399_999, 400_000].map((askedAtMs) => aTurn({ askedAtMs }));
    assert.equal(figuresOf(turns).turnsServed, 2);
  });
  it("tells first turns and later ones apart", () => {
    const figures = figuresOf([
      aTurn({ askedAtMs: 100_000, ttftMs: 4_000 }),
      aTurn({ askedAtMs: 120_000, turn: 2, previous: 0, ttftMs: 1_000 }),
      aTurn({ askedAtMs: 130_000, turn: 3, previous: 0, ttftMs: 2_500 }),
    ]);
    assert.equal(figures.ttftMeanMs, 2_500);
    assert.equal(figures.firstTurnTtftMeanMs, 4_000);
    assert.equal(figures.laterTurnTtftMeanMs, 1_750);
    assert.equal(figures.aboveThreeSecondsFraction, 1 / 3);
  });
  it("lets lost and unfinished turns miss the promise", () => {
    const tally = aTally([aTurn({ askedAtMs: 100_000 }), aTurn({ askedAtMs: 110_000, ttftMs: 2_001 })]);
    tally.onLost({ conversation: 9, askedAtMs: 120_000, reason: "unserved" });
    tally.onLost({ conversation: 9, askedAtMs: 99_000, reason: "unserved" });
    const figures = runFigures(tally, { seed: 1, replicas: 2, measuredMs: 300_000, unfinished: 1 });
    assert.equal(figures.turnsLost, 1);
    assert.equal(figures.withinSloFraction, 1 / 4);
  });
  it("counts tokens: cached, computed again, a second, and the GPU time of what was computed", () => {
    const figures = figuresOf([
      // The context of the turn before, from the warm-up: 1 101 tokens.
      aTurn({ askedAtMs: 90_000 }),
      aTurn({ askedAtMs: 100_000, turn: 2, previous: 0, promptTokens: 2_000, cachedTokens: 500 }),
    ]);
    assert.equal(figures.cachedFraction, 0.25);
    assert.equal(figures.recomputedTokens, 601);
    assert.equal(figures.prefillGpuSeconds, 1.5);
    assert.equal(figures.utilisationFraction, 1.5 / 600);
    assert.equal(figures.noCacheLoadFraction, 2 / 600);
    assert.equal(figures.decodeTokensPerSecond, 100);
    assert.equal(figures.outputTokensPerSecond, 101 / 300);
  });
  it("takes unequal regions for what they can do together: 2 000 tokens are 0.67 s of 1 000 and 2 000 tokens/s", () => {
    const fleet = [aFleetRegion("us-east-1", 1, 1_000), aFleetRegion("ap-southeast-1", 1, 2_000)];
    for (const region of [0, 1]) {
      const [{ noCacheLoadFraction }] = [
        figuresOf([aTurn({ askedAtMs: 100_000, region, promptTokens: 2_000 })], fleet),
      ];
      assert.ok(Math.abs(noCacheLoadFraction - 2 / 3 / 300) < 1e-12);
    }
  });
  it("counts moves by conversation, and what their contexts would cost to copy", () => {
    const figures = figuresOf([
      aTurn({ askedAtMs: 100_000 }),
      aTurn({ askedAtMs: 110_000, turn: 2, previous: 0, region: 1 }),
      aTurn({ askedAtMs: 110_000, conversation: 2 }),
    ]);
    assert.equal(figures.moves, 1);
    assert.equal(figures.movesPerConversation, 0.5);
    // Of 1 101 tokens the prompt has 1 000 in common; us-east-1 takes 2 cents a GB.
    assert.equal(figures.contextBytesLeft, 327_680_000);
    assert.ok(Math.abs((figures.contextCentsLeft ?? 0) - 0.65536) < 1e-9);
  });
  it("counts text that crosses regions by who sends it: the prompt at 2 cents a GB, the answer at 9", () => {
    const figures = figuresOf([aTurn({ askedAtMs: 100_000, nearest: 0, region: 1 }), aTurn({ askedAtMs: 100_000 })]);
    assert.equal(figures.textBytesAcross, 4_404);
    assert.ok(Math.abs((figures.textCentsAcross ?? 0) - (4_000 * 2e-9 + 404 * 9e-9)) < 1e-15);
  });
  it("does not invent a price of a region that has none", () => {
    const fleet = [aFleetRegion("us-east-1"), aFleetRegion("moon-1")];
    const across = figuresOf([aTurn({ askedAtMs: 100_000, region: 1 })], fleet);
    assert.equal(across.textCentsAcross, null);
    assert.equal(across.textBytesAcross, 4_404);
  });
  it("tells a policy's errors against what it predicted, and of nothing where it predicts nothing", () => {
    const figures = figuresOf([
      aTurn({ askedAtMs: 100_000, queuedMs: 400, predicted: { queueMs: 300, ttftMs: 800 } }),
      aTurn({ askedAtMs: 100_000, queuedMs: 0, predicted: { queueMs: 100, ttftMs: 1_100 } }),
    ]);
    assert.equal(figures.queueErrorMs, 100);
    assert.equal(figures.queueErrorFraction, 0.5);
    assert.equal(figures.ttftErrorFraction, 0.15);
    assert.equal(figuresOf([aTurn({ askedAtMs: 100_000 })]).queueErrorMs, null);
  });
  it("has no figure of nothing", () => {
    const figures = figuresOf([]);
    assert.equal(figures.ttftMeanMs, null);
    assert.equal(figures.withinSloFraction, null);
    assert.equal(figures.movesPerConversation, null);
  });
});

describe("the same over time", () => {
  it("spreads a prefill over the time that it took, by region", () => {
    // 1 000 tokens are 1 s of GPU; here they took 20 s beside decoding, from 100 s to 120 s.
    const turn = aTurn({ askedAtMs: 100_000, region: 1, ttftMs: 20_000, prefillMs: 20_000 });
    const { sliceMs, prefillFraction, ttftP95Ms } = seriesFigures([aTally([turn]).series], [1, 2]);
    assert.equal(sliceMs, 10_000);
    assert.deepEqual(prefillFraction[1]?.slice(9, 13), [0, 0.025, 0.025, 0]);
    assert.ok(prefillFraction[0]?.every((fraction) => fraction === 0));
    assert.equal(ttftP95Ms[9], null);
    assert.ok(Math.abs((ttftP95Ms[10] ?? 0) - 20_000) < 100);
  });
});
