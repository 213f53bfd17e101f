/** The memory store's sorted set against one that sorts all of itself whenever it is asked. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { IndexEntry } from "#shared/store.ts";
import { createMemoryIndex } from "#shared/store-memory-index.ts";

const member = fc.oneof(fc.constantFrom("", "a", "b", "\uff5e", "😀"), fc.nat(3_000).map(String));
const score = fc.oneof(
  fc.nat(20),
  fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -1.5, 2 ** 53 - 1),
);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("add" as const), member, score }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), member, score }) },
);

const plainOrder = (a: IndexEntry, b: IndexEntry): number =>
  a.score === b.score ? Buffer.compare(Buffer.from(a.member), Buffer.from(b.member)) : a.score < b.score ? -1 : 1;

describe("a sorted set in blocks", () => {
  it("says what sorting everything would say, whatever came and went", () => {
    fc.assert(
      fc.property(
        // Long enough that blocks are halved and emptied.
        fc.array(step, { maxLength: 3_000, size: "max" }),
        score,
        score,
        fc.integer({ min: 0, max: 2_000 }),
        (steps, a, b, limit) => {
          const index = createMemoryIndex();
          const plain = new Map<string, number>();
          for (const one of steps) {
            if (one.kind === "add") {
              index.add(one.member, one.score);
              plain.set(one.member, one.score);
            } else {
              index.remove(one.member);
              plain.delete(one.member);
            }
          }
          const sorted = [...plain].map(([member, score]) => ({ member, score })).sort(plainOrder);
          const [min, max] = a < b ? [a, b] : [b, a];
          assert.equal(index.size(), plain.size);
          assert.deepEqual(
            index.range(min, max, limit),
            sorted.filter(({ score }) => score >= min && score <= max).slice(0, limit),
          );
          assert.deepEqual(
            index.top(max, limit),
            sorted
              .filter(({ score }) => score <= max)
              .toReversed()
              .slice(0, limit),
          );
        },
      ),
      { numRuns: 40 },
    );
  });
  it("finds each of 100 000 that were added in no order, and none once all are removed", () => {
    const index = createMemoryIndex();
    const at = (i: number): number => (i * 7_919) % 100_000;
    for (let i = 0; i < 100_000; i++) index.add(`m${at(i)}`, at(i));
    assert.deepEqual(
      index.range(49_999, 50_001, 10).map(({ member }) => member),
      ["m49999", "m50000", "m50001"],
    );
    assert.deepEqual(
      index.top(3, 2).map(({ member }) => member),
      ["m3", "m2"],
    );
    for (let i = 0; i < 100_000; i++) index.remove(`m${i}`);
    assert.equal(index.size(), 0);
    assert.deepEqual(index.top(Number.POSITIVE_INFINITY, 10), []);
  });
});
