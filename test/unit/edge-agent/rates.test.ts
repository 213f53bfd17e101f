import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Counters, type Cumulative, NO_COUNTERS } from "#edge-agent/engines/engine.ts";
import { type History, observe } from "#edge-agent/history.ts";
import { growth, NO_RATES, ratesOf } from "#edge-agent/rates.ts";

const of = (source: string, ...values: readonly number[]): readonly Cumulative[] => [{ source, values }];

const watched = (scrapes: readonly (readonly [atMs: number, counters: Partial<Counters>])[]): History => {
  let history: History | null = null;
  for (const [atMs, counters] of scrapes) {
    history = observe(history, {
      atMs,
      atEpochMs: atMs,
      startedAt: null,
      counters: { ...NO_COUNTERS, ...counters },
    });
  }
  assert.ok(history);
  return history;
};

describe("the growth of a quantity", () => {
  it("is taken by the best source that both scrapes have", () => {
    const later = [...of("best", 70), ...of("other", 30)];
    assert.deepEqual(growth(of("other", 10), later), { source: "other", values: [20] });
    assert.deepEqual(growth([...of("other", 10), ...of("best", 50)], later), { source: "best", values: [20] });
  });
  it("is unknown where no source is common, or the shape changed", () => {
    assert.equal(growth(of("a", 1), of("b", 2)), null);
    assert.equal(growth(of("a", 1), of("a", 2, 3)), null);
    assert.equal(growth([], of("a", 1)), null);
  });
  it("is unknown where it is negative", () => assert.equal(growth(of("a", 5, 1), of("a", 6, 0)), null));
});

describe("rates over the window", () => {
  it("are growth over the time between the first and the last scrape", () => {
    const rates = ratesOf(
      watched([
        [0, { outputTokens: of("o", 0), promptTokens: of("p", 100), computedTokens: of("c", 10) }],
        [5_000, { outputTokens: of("o", 900), promptTokens: of("p", 100), computedTokens: of("c", 10) }],
        [10_000, { outputTokens: of("o", 1_000), promptTokens: of("p", 600), computedTokens: of("c", 30) }],
      ]),
    );
    assert.equal(rates.outputTokensPerSecond, 100);
    assert.equal(rates.promptTokensPerSecond, 50);
    assert.equal(rates.computedTokensPerSecond, 2);
  });
  it("are unknown after one scrape, and where no time passed", () => {
    assert.deepEqual(ratesOf(watched([[0, { outputTokens: of("o", 5) }]])), NO_RATES);
    const still = watched([
      [0, { outputTokens: of("o", 5) }],
      [0, { outputTokens: of("o", 6) }],
    ]);
    assert.equal(ratesOf(still).outputTokensPerSecond, null);
  });
  it("over a restart count what the new process did since the scrape before, never less than zero", () => {
    const rates = ratesOf(
      watched([
        [0, { outputTokens: of("o", 5_000) }],
        [10_000, { outputTokens: of("o", 9_000) }],
        [20_000, { outputTokens: of("o", 400) }],
      ]),
    );
    assert.equal(rates.outputTokensPerSecond, 40);
  });
  it("begin where a source begins, and ratios take both parts from there", () => {
    const rates = ratesOf(
      watched([
        [0, { computedTokens: of("c", 0) }],
        [10_000, { computedTokens: of("c", 90_000), prefill: of("s", 0, 0) }],
        [20_000, { computedTokens: of("c", 100_000), prefill: of("s", 4, 2) }],
      ]),
    );
    assert.equal(rates.computedTokensPerSecond, 5_000);
    assert.deepEqual(rates.prefill, { tokensPerSecond: 5_000, prefills: 4, meanTokens: 2_500 });
  });
  it("say nothing while several processes answer", () => {
    const falling = [900, 10, 905, 12].map((value, at) => [at * 1_000, { outputTokens: of("o", value) }] as const);
    assert.deepEqual(ratesOf(watched(falling)), NO_RATES);
  });
});

describe("what is averaged over events", () => {
  const idle = { computedTokens: of("c", 700), prefill: of("s", 9, 3), interToken: of("i", 50, 1) };
  it("is unknown where none happened", () => {
    const rates = ratesOf(
      watched([
        [0, idle],
        [60_000, idle],
      ]),
    );
    assert.equal(rates.prefill, null);
    assert.equal(rates.interToken, null);
  });
  it("has no speed where everything was cached", () => {
    const rates = ratesOf(
      watched([
        [0, { computedTokens: of("c", 700), prefill: of("s", 9, 3) }],
        [1_000, { computedTokens: of("c", 700), prefill: of("s", 10, 3.1) }],
      ]),
    );
    assert.equal(rates.prefill, null);
  });
  it("sums hits of both tiers", () => {
    const rates = ratesOf(
      watched([
        [0, { prefixCache: of("x", 100, 10, 1) }],
        [1_000, { prefixCache: of("x", 200, 50, 11) }],
      ]),
    );
    assert.deepEqual(rates.prefixCache, { queries: 100, hits: 50 });
  });
  it("knows how much was computed for each first token", () => {
    const rates = ratesOf(
      watched([
        [0, { computedTokens: of("c", 0), firstToken: of("f", 0, 0), firstTokenBounds: [1, Infinity] }],
        [1_000, { computedTokens: of("c", 800), firstToken: of("f", 1, 4), firstTokenBounds: [1, Infinity] }],
      ]),
    );
    assert.deepEqual(rates.perFirstToken, { computedTokens: 800, firstTokens: 4 });
    assert.deepEqual(rates.firstToken, { source: "f", bounds: [1, Infinity], counts: [1, 4] });
  });
  it("is never taken from two histograms with different bounds", () => {
    const rates = ratesOf(
      watched([
        [0, { firstToken: of("f le=1", 0, 0), firstTokenBounds: [1, Infinity] }],
        [1_000, { firstToken: of("f le=2", 1, 4), firstTokenBounds: [2, Infinity] }],
      ]),
    );
    assert.equal(rates.firstToken, null);
  });
  it("of decode times is the life of the process where no request ended in the window", () => {
    const ended = { decode: of("d", 10, 50) };
    assert.deepEqual(
      ratesOf(
        watched([
          [0, ended],
          [1_000, ended],
        ]),
      ).decode,
      { count: 10, seconds: 50 },
    );
    const more = { decode: of("d", 12, 51) };
    assert.deepEqual(
      ratesOf(
        watched([
          [0, ended],
          [1_000, more],
        ]),
      ).decode,
      { count: 2, seconds: 1 },
    );
  });
});
