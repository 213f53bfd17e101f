/** One replica as a queue, against what queueing theory says, and against the queue computed by hand from the same draws. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDice } from "#gtm/simulation/dice.ts";
import { DEFAULT_ENGINE, type EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";

/** 1 ms a token; nothing is found in the cache, since nothing has a name. */
const ENGINE: EngineOptions = {
  ...DEFAULT_ENGINE,
  ...{ speed: { linMs: 1, attnMs: 0 }, blockTokens: 1_000, kvTokens: 1_000_000, maxRunning: 1_000 },
};

/** Lengths with their shares. */
type Mix = readonly (readonly [share: number, tokens: number])[];
type Queue = { readonly engine: EngineOptions; readonly mix: Mix; readonly load: number; readonly count: number };

/** Waits of requests that come at random, by the engine and by Lindley's recursion: the wait before, plus the service, less the gap. */
const waitsMs = ({ engine, mix, load, count }: Queue) => {
  const dice = createDice(11);
  const replica = createReplica(engine, 0);
  const perMs = load / moment(mix, 1);
  let [atMs, simulatedMs, byHandMs, leftMs, worstMs] = [0, 0, 0, 0, 0];
  for (let id = 0; id < count; id++) {
    const gapMs = -Math.log(1 - dice()) / perMs;
    atMs += gapMs;
    const promptTokens = lengthIn(mix, dice());
    replica.advanceTo(atMs);
    const waitMs = replica.backlogMs();
    leftMs = Math.max(0, leftMs - gapMs);
    worstMs = Math.max(worstMs, Math.abs(waitMs - leftMs), Math.abs(replica.waitingMs() - leftMs));
    simulatedMs += waitMs;
    byHandMs += leftMs;
    leftMs += promptTokens;
    replica.submit({ id, promptTokens, outputTokens: 1, finishReason: "stop", blocks: [] }, atMs);
  }
  return { simulatedMs: simulatedMs / count, byHandMs: byHandMs / count, worstMs };
};

const lengthIn = (mix: Mix, chance: number): number => {
  let left = chance;
  for (const [share, tokens] of mix) {
    if (left < share) return tokens;
    left -= share;
  }
  return mix[0]?.[1] ?? 1;
};

const moment = (mix: Mix, power: number): number => mix.reduce((sum, [share, ms]) => sum + share * ms ** power, 0);

/** Pollaczek and Khinchine: λ·E[s²] ÷ 2(1 − ρ). */
const expectedWaitMs = (mix: Mix, load: number): number =>
  ((load / moment(mix, 1)) * moment(mix, 2)) / (2 * (1 - load));

const SAME: Mix = [[1, 100]];
const TWO: Mix = [
  [0.5, 20],
  [0.5, 180],
];
/** Squared coefficient of variation 4.4. */
const HEAVY: Mix = [
  [0.9, 30],
  [0.1, 730],
];

describe("a replica to which requests come at random", () => {
  const cases: readonly { load: number; mix: Mix; what: string; count: number }[] = [
    { load: 0.3, mix: SAME, what: "100 ms each", count: 50_000 },
    { load: 0.6, mix: SAME, what: "100 ms each", count: 50_000 },
    { load: 0.6, mix: TWO, what: "20 or 180 ms each", count: 50_000 },
    { load: 0.8, mix: TWO, what: "20 or 180 ms each", count: 80_000 },
    { load: 0.6, mix: HEAVY, what: "30 ms each, every tenth 730", count: 120_000 },
  ];
  for (const { load, mix, what, count } of cases) {
    it(`makes them wait as queueing theory says, within 5 %: load ${load}, ${what}`, () => {
      const { simulatedMs } = waitsMs({ engine: ENGINE, mix, load, count });
      const expectedMs = expectedWaitMs(mix, load);
      assert.ok(Math.abs(simulatedMs / expectedMs - 1) < 0.05, `${simulatedMs} ms, not ${expectedMs} ms`);
    });
  }

  for (const [kind, chunkTokens] of [
    ["whole", null],
    ["in chunks", 64],
  ] as const) {
    it(`lets each wait to the millisecond as the same draws give by hand, prefilled ${kind}`, () => {
      const { worstMs } = waitsMs({ engine: { ...ENGINE, chunkTokens }, mix: TWO, load: 0.8, count: 10_000 });
      assert.ok(worstMs < 1e-3, `${worstMs} ms apart`);
    });
  }
});
