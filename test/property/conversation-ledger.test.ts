/** Laws of the ledger: the order in which turns are committed, and who wrote first, does not decide where home is. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { afterTurn, mergedWith, type ServedTurn } from "#gtm/domain/conversation-ledger.ts";
import { CONVERSATION, MODEL, regionId } from "#test/support/builders.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 1_000) };
const KEPT_MS = 3_600_000;
const NAMES = ["frankfurt", "paris", "virginia", "singapore"];

/** At different times, up to two hours apart. */
const turns: fc.Arbitrary<readonly ServedTurn[]> = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom(...NAMES),
      tokens: fc.nat(100_000),
      atMs: fc.integer({ min: 1, max: 2 * KEPT_MS }),
    }),
    { minLength: 1, maxLength: 8, selector: ({ atMs }) => atMs },
  )
  .map((list) =>
    list.map(({ name, ...rest }) => ({ id: CONVERSATION, model: MODEL, region: regionId(name), ...rest })),
  );

const committed = (list: readonly ServedTurn[]): Conversation => {
  const left = list.reduce<Conversation | null>((before, turn) => afterTurn(before, turn, KEPT_MS), null);
  assert.ok(left);
  return left;
};
/** What the turns leave, said without any ledger: of each region its newest turn within the hour, the three newest. */
const expected = (list: readonly ServedTurn[]) => {
  const newest = list.toSorted((a, b) => b.atMs - a.atMs);
  const lastMs = newest[0]?.atMs ?? 0;
  return newest
    .filter(({ atMs }) => atMs > lastMs - KEPT_MS)
    .filter(({ region }, at, all) => all.findIndex((one) => one.region === region) === at)
    .slice(0, 3)
    .map(({ region, tokens, atMs }) => ({ region, replica: null, tokens, atMs }));
};
const shuffled = (list: readonly ServedTurn[]) => fc.shuffledSubarray([...list], { minLength: list.length });

describe("the ledger", () => {
  it("holds, in order of time, the newest turn of each region, however late each was committed", () => {
    fc.assert(
      fc.property(
        turns.chain((list) => fc.tuple(fc.constant(list), shuffled(list))),
        ([list, order]) => {
          const { holdings, turns: count, lastTurnAtMs } = committed(order);
          // Of turns that were committed in order nothing is ever forgotten that matters; out of order, home is right.
          assert.deepEqual(holdings[0], expected(list)[0]);
          assert.deepEqual(committed(list.toSorted((a, b) => a.atMs - b.atMs)).holdings, expected(list));
          assert.equal(count, list.length);
          assert.equal(lastTurnAtMs, Math.max(...list.map(({ atMs }) => atMs)));
        },
      ),
      runs,
    );
  });

  it("has one holding a region, at most three, the newest first, none an hour older than the last turn", () => {
    fc.assert(
      fc.property(turns, turns, (mine, theirs) => {
        const { holdings, lastTurnAtMs } = mergedWith(committed(theirs), committed(mine), KEPT_MS);
        assert.equal(new Set(holdings.map(({ region }) => region)).size, holdings.length);
        assert.ok(holdings.length <= 3);
        for (const [at, { atMs }] of holdings.entries()) {
          assert.ok(atMs <= (holdings[at - 1]?.atMs ?? lastTurnAtMs) && atMs > lastTurnAtMs - KEPT_MS);
        }
      }),
      runs,
    );
  });

  it("is joined with another's to the same holdings whoever wrote first, where no two turns share a moment", () => {
    fc.assert(
      fc.property(
        turns.chain((list) => fc.tuple(fc.constant(list), fc.integer({ min: 0, max: list.length }))),
        ([list, at]) => {
          const [mine, theirs] = [list.slice(0, at), list.slice(at)];
          if (mine.length === 0 || theirs.length === 0) return;
          const [a, b] = [committed(mine), committed(theirs)];
          assert.deepEqual(mergedWith(a, b, KEPT_MS).holdings, mergedWith(b, a, KEPT_MS).holdings);
          assert.deepEqual(mergedWith(a, b, KEPT_MS).holdings[0], expected(list)[0]);
        },
      ),
      runs,
    );
  });
});
