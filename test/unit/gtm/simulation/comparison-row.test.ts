import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rowOf } from "#gtm/simulation/comparison-row.ts";
import type { TurnRecord } from "#gtm/simulation/play.ts";

const aRecord = (wish: Partial<TurnRecord>): TurnRecord => ({
  conversation: 1,
  turn: 2,
  hasMoved: false,
  promptTokens: 1_000,
  cachedTokens: 0,
  ttftMs: 500,
  answeredAtMs: 15_000,
  prefillFromMs: 14_000,
  prefillToMs: 15_000,
  ...wish,
});

/** 10 s to 20 s are measured, on one replica. */
const row = (records: readonly TurnRecord[]) =>
  rowOf("any", records, {
    fromMs: 10_000,
    toMs: 20_000,
    replicas: 1,
    sloMs: (promptTokens) => promptTokens,
    noCachePrefillMs: (promptTokens) => promptTokens,
  });

describe("a row of the comparison", () => {
  it("counts turns answered within the time measured, warm-up apart", () => {
    const times = [9_999, 10_000, 19_999, 20_000];
    assert.equal(row(times.map((answeredAtMs) => aRecord({ answeredAtMs }))).turnsServed, 2);
  });

  it("tells mean, quantiles, first and later turns", () => {
    const records = Array.from({ length: 100 }, (_, at) => aRecord({ ttftMs: (at + 1) * 10, turn: at < 50 ? 1 : 2 }));
    const { ttftMeanMs, ttftP50Ms, ttftP95Ms, firstTurnMeanMs, laterTurnMeanMs } = row(records);
    assert.deepEqual([ttftMeanMs, ttftP50Ms, ttftP95Ms, firstTurnMeanMs, laterTurnMeanMs], [505, 500, 950, 255, 755]);
  });

  it("weighs cached tokens by length, the promise by turns, moves by conversations", () => {
    const { cachedFraction, sloAttainedFraction, movesPerConversation } = row([
      aRecord({ promptTokens: 9_000, cachedTokens: 9_000, ttftMs: 9_000 }),
      aRecord({ promptTokens: 1_000, ttftMs: 1_001, hasMoved: true }),
      aRecord({ conversation: 2, promptTokens: 0 }),
    ]);
    assert.deepEqual([cachedFraction, sloAttainedFraction, movesPerConversation], [0.9, 1 / 3, 0.5]);
  });

  it("counts the part of a prefill that lies within the time measured, whenever its answer came", () => {
    const { utilisationFraction, noCacheUtilisationFraction } = row([
      aRecord({ prefillFromMs: 9_000, prefillToMs: 11_000 }),
      aRecord({ prefillFromMs: 19_000, prefillToMs: 25_000, answeredAtMs: 25_000 }),
    ]);
    assert.deepEqual([utilisationFraction, noCacheUtilisationFraction], [0.2, 0.1]);
  });
});
