import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rowOf } from "#gtm/simulation/comparison-row.ts";
import type { TurnRecord } from "#gtm/simulation/turn-record.ts";

/** @param wish `ttftMs` back from the first token to the asking */
const aRecord = ({ ttftMs = 500, ...wish }: Partial<TurnRecord> & { ttftMs?: number }): TurnRecord => {
  const firstTokenAtMs = wish.firstTokenAtMs ?? 15_000;
  return {
    ...{ conversation: 1, turn: 2, region: 0, replica: 0, nearest: 0, previous: 0 },
    ...{ promptTokens: 1_000, outputTokens: 10, cachedTokens: 0, queuedMs: 0, prefillMs: 100 },
    askedAtMs: firstTokenAtMs - ttftMs,
    firstTokenAtMs,
    lastTokenAtMs: firstTokenAtMs + 1_000,
    ...{ failedAttempts: 0, predicted: null, verdict: null },
    ...wish,
  };
};

/** Two replicas that prefilled for 2 s, and would have for 1 s more without a cache. */
const REGION = { turns: 1, prefillMs: 2_000, computedTokens: 0, cachedTokens: 0, noCachePrefillMs: 3_000, replicas: 2 };

/** 10 s to 20 s are measured. */
const row = (records: readonly TurnRecord[]) =>
  rowOf("any", records, [{ ...REGION, overTime: [] }], {
    ...{ fromMs: 10_000, toMs: 20_000, sloMs: (promptTokens: number) => promptTokens },
  });

describe("a row of the comparison", () => {
  it("counts turns answered within the time measured, warm-up apart", () => {
    const times = [9_999, 10_000, 19_999, 20_000];
    assert.equal(row(times.map((firstTokenAtMs) => aRecord({ firstTokenAtMs }))).turnsServed, 2);
  });

  it("tells mean, quantiles, first and later turns", () => {
    const records = Array.from({ length: 100 }, (_, at) => aRecord({ ttftMs: (at + 1) * 10, turn: at < 50 ? 1 : 2 }));
    const { ttftMeanMs, ttftP50Ms, ttftP95Ms, firstTurnMeanMs, laterTurnMeanMs } = row(records);
    assert.deepEqual([ttftMeanMs, ttftP50Ms, ttftP95Ms, firstTurnMeanMs, laterTurnMeanMs], [505, 500, 950, 255, 755]);
  });

  it("weighs cached tokens by length, the promise by turns, moves by conversations", () => {
    const { cachedFraction, sloAttainedFraction, movesPerConversation } = row([
      aRecord({ promptTokens: 9_000, cachedTokens: 9_000, ttftMs: 9_000 }),
      aRecord({ promptTokens: 1_000, ttftMs: 1_001, region: 1 }),
      aRecord({ conversation: 2, promptTokens: 0 }),
    ]);
    assert.deepEqual([cachedFraction, sloAttainedFraction, movesPerConversation], [0.9, 1 / 3, 0.5]);
  });

  it("divides what regions did by what their replicas could have done", () => {
    const { utilisationFraction, noCacheUtilisationFraction } = row([aRecord({})]);
    assert.deepEqual([utilisationFraction, noCacheUtilisationFraction], [0.1, 0.15]);
  });
});
