/** What a turn pushes out of a region's cache, in milliseconds. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Placement } from "#gtm/domain/placement.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import { memoryMs } from "#gtm/steering/costs/memory.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { aPlacement } from "#test/support/builders.ts";

/** 10 000 tokens at 5 000 tokens/s are 2 s; price factor, next turn and reuse are 1 each, so that sums are easy. */
const POLICY = { ...DEFAULT_POLICY, memoryPriceFactor: 1 };
const turn = { contextTokens: 9_000, newTokens: 1_000, nextTurnFraction: 1, reuseFraction: 1 } as Turn;
const halfFull = (wish: Partial<Placement> = {}): Placement =>
  aPlacement("frankfurt", { kvCapacityTokens: 100_000, liveTokens: 40_000, ...wish });
const priceOf = (placement: Placement, isHome: boolean): number =>
  Math.round(memoryMs(turn, placement, isHome, POLICY));

describe("the price of memory of a prompt of 10 000 tokens, in a cache of 100 000 of which 40 000 are live", () => {
  it("is a quarter of its prefill: half of the cache is live afterwards", () => {
    assert.equal(priceOf(halfFull(), false), 500);
  });
  it("is nothing at home, where the context is among the live ones already", () => {
    assert.equal(priceOf(halfFull({ liveTokens: 49_000 }), true), 0);
  });
  it("grows no further than a cache that is a fifth over full", () => {
    assert.equal(priceOf(halfFull({ liveTokens: 900_000 }), false), Math.round(1.2 ** 2 * 2_000));
  });
  it("is that of a cache as full as the others' where the region came after them", () => {
    assert.equal(priceOf(halfFull({ liveTokens: 0, leastOccupancy: 0.5 }), false), 500);
    assert.equal(priceOf(halfFull({ leastOccupancy: 0.1 }), false), 500, "it is fuller than that already");
  });
  it("is nothing where the capacity is not known", () => {
    assert.equal(priceOf(halfFull({ kvCapacityTokens: null }), false), 0);
  });
});
