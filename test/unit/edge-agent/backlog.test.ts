import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backlogMs, type Queue } from "#edge-agent/backlog.ts";

const queue = (wish: Partial<Queue>): Queue => ({
  requestsWaiting: 4,
  requestsRunning: 8,
  uncachedTokensWaiting: null,
  kvCacheUsedFraction: 0.5,
  computedTokensPerRequest: 2_000,
  decodeMs: 6_000,
  prefillTokensPerSecond: 8_000,
  ...wish,
});

describe("the backlog of 4 requests of 2 000 uncached tokens at 8 000 tokens/s", () => {
  it("is 1 000 ms", () => assert.equal(backlogMs(queue({})), 1_000));
  it("is what the engine says waits, where it does", () => {
    assert.equal(backlogMs(queue({ uncachedTokensWaiting: 24_000 })), 3_000);
  });
  it("is 0 where nothing waits, even where nothing else is known", () => {
    const unknown = {
      computedTokensPerRequest: null,
      decodeMs: null,
      prefillTokensPerSecond: null,
      kvCacheUsedFraction: null,
    };
    assert.equal(backlogMs(queue({ requestsWaiting: 0, ...unknown })), 0);
  });
  it("is 0 where all of it is cached", () => assert.equal(backlogMs(queue({ computedTokensPerRequest: 0 })), 0));
  it("grows by the wait for room from 0.95 of the KV cache on: 4 ÷ 8 × 6 000 ms", () => {
    assert.equal(backlogMs(queue({ kvCacheUsedFraction: 0.949 })), 1_000);
    assert.equal(backlogMs(queue({ kvCacheUsedFraction: 0.95 })), 4_000);
  });
  it("waits for one request where none runs", () => {
    assert.equal(backlogMs(queue({ kvCacheUsedFraction: 1, requestsRunning: 0 })), 25_000);
  });
});

describe("a backlog that nobody can know", () => {
  const cases: readonly { readonly when: string; readonly wish: Partial<Queue> }[] = [
    { when: "the queue is unknown", wish: { requestsWaiting: null } },
    { when: "no request got a first token lately", wish: { computedTokensPerRequest: null } },
    { when: "the speed is unknown", wish: { prefillTokensPerSecond: null } },
    { when: "the KV use is unknown", wish: { kvCacheUsedFraction: null } },
    { when: "the cache is full and decode times are unknown", wish: { kvCacheUsedFraction: 1, decodeMs: null } },
    {
      when: "the cache is full and the running ones are unknown",
      wish: { kvCacheUsedFraction: 1, requestsRunning: null },
    },
  ];
  for (const { when, wish } of cases) {
    it(`is null, never 0, when ${when}`, () => assert.equal(backlogMs(queue(wish)), null));
  }
});
