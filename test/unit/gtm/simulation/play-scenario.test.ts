import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Traffic } from "#gtm/simulation/traffic.ts";
import { always, BERLIN, EAST, nearest, played, region, SILENT, small, WEST } from "./small-scenario.ts";

/** One client that asks these turns of 1 000 tokens. */
const asking = (...asks: ({ kind: "at"; ms: number } | { kind: "after"; thinkMs: number })[]): Traffic => ({
  blockTokens: 16,
  *clients() {
    let turn = 0;
    yield {
      ...{ city: BERLIN, lastMileMs: 10, startsAtMs: 100 },
      next: () => {
        const ask = asks[turn];
        turn += 1;
        if (ask === undefined) return null;
        return { conversation: 7, parent: null, turn, promptTokens: 1_000, outputTokens: 20, blocks: [], asks: ask };
      },
    };
  },
});

describe("playing a scenario", () => {
  it("is the same for the same seed, and another for another", () => {
    const once = played(small(), nearest, 3);
    const again = played(small(), nearest, 3);
    assert.equal(once.records.length, 160);
    assert.deepEqual(once, again);
    assert.notDeepEqual(played(small(), nearest, 4).records, once.records);
  });

  it("pays for three round trips of the front and three of the region where no connection is open, else for one each", () => {
    const { records } = played(
      small({ traffic: () => asking({ kind: "after", thinkMs: 0 }, { kind: "after", thinkMs: 1_000 }) }),
      nearest,
    );
    const [first, second] = records;
    // 20 ms to the region, 10 to the net; the front is as near as the nearest region.
    const networkMs = ({ firstTokenAtMs, askedAtMs, queuedMs, prefillMs }: (typeof records)[number]) =>
      Math.round(firstTokenAtMs - askedAtMs - queuedMs - prefillMs);
    assert.equal(first?.askedAtMs, 100);
    assert.equal(first && networkMs(first), 3 * 30 + 3 * 30);
    assert.equal(second && networkMs(second), 30 + 30);
    assert.equal(second?.askedAtMs, (first?.lastTokenAtMs ?? 0) + 1_000);
  });

  it("lets an open loop ask at its time, answered before or not", () => {
    const asks = [0, 200, 210].map((ms) => ({ kind: "at" as const, ms }));
    const { records } = played(small({ traffic: () => asking(...asks) }), nearest);
    assert.deepEqual(
      records.map(({ turn, askedAtMs }) => [turn, askedAtMs]),
      // The second finds the connection that the first still opens, and overtakes it.
      [
        [2, 200],
        [3, 210],
        [1, 100],
      ],
    );
  });

  it("says where a turn was served, where the one before was, and which region was nearest", () => {
    const { records } = played(small(), always(WEST));
    assert.ok(
      records.every(({ region, turn, previous }) => region === WEST && previous === (turn === 1 ? null : WEST)),
    );
    assert.deepEqual(new Set(records.map(({ nearest: at }) => at)), new Set([EAST, WEST]));
  });

  it("sums what regions computed within the measured time, and over time", () => {
    const { records, totals } = played(small(), nearest);
    const [east, west] = totals.regions;
    const all = [...(east?.overTime ?? []), ...(west?.overTime ?? [])];
    const sum = (of: readonly number[]) => of.reduce((a, b) => a + b, 0);
    const cached = records.map(({ cachedTokens }) => cachedTokens);
    assert.equal(sum(all.map(({ turns }) => turns)), records.length);
    assert.equal(sum(all.map(({ cachedTokens }) => cachedTokens)), sum(cached));
    const computed = records.map(({ promptTokens, cachedTokens }) => promptTokens - cachedTokens);
    assert.equal(sum(all.map(({ computedTokens }) => computedTokens)), sum(computed));
    assert.ok((east?.turns ?? 0) + (west?.turns ?? 0) < records.length, "the warm-up does not count");
    assert.equal(totals.served, 160);
    assert.equal(totals.unfinished, 0);
  });

  it("plays what was asked to its end, and lets nobody ask after the end", () => {
    const { records, totals } = played(small({ measuredMs: 3_000 }), nearest);
    assert.ok(records.every(({ askedAtMs }) => askedAtMs < 8_000));
    assert.ok(records.some(({ lastTokenAtMs }) => lastTokenAtMs > 8_000));
    assert.equal(totals.unfinished, 0);
    assert.equal(totals.asked, records.length);
  });

  it("loses a prompt that no replica can hold, and a turn that no region may serve", () => {
    const tiny = region("east", 8);
    const fleet = [{ ...tiny, engine: { ...tiny.engine, kvTokens: 1_000 } }];
    const long = played(small({ fleet, traffic: () => asking({ kind: "after", thinkMs: 0 }) }), always(EAST));
    assert.deepEqual(long.lost, [{ conversation: 7, askedAtMs: 100, reason: "too-long" }]);
    const none = played(small({ traffic: () => asking({ kind: "after", thinkMs: 0 }) }), () => SILENT);
    assert.deepEqual(none.lost, [{ conversation: 7, askedAtMs: 100, reason: "unserved" }]);
  });
});
