import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alternate, type BenchRow, bytesPerIteration, median } from "../../../bench/bench.ts";
import { benchTable } from "../../../bench/bench-table.ts";
import { isHeld } from "../../../bench/bound.ts";

const row: BenchRow = { what: "a thing", value: 4, unit: "µs", against: null, ratio: null, bound: null };

describe("alternating pairs", () => {
  it("change places each time, and the first pair is not counted", async () => {
    const order: string[] = [];
    const values = { a: [100, 1, 2, 3], b: [100, 10, 20, 30] };
    const measure = (name: "a" | "b") => () => {
      order.push(name);
      return values[name].shift() ?? Number.NaN;
    };
    const pairs = await alternate(3, measure("a"), measure("b"));
    assert.equal(order.join(""), "abbaabba");
    assert.deepEqual(pairs, { a: 2, b: 20, ratio: 0.1 });
  });
});

describe("a median", () => {
  it("is the middle, or the mean of the middle two", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.throws(() => median([]), /nothing/);
  });
});

describe("bytes an iteration", () => {
  it("grow with what is allocated, and are none where nothing is", async () => {
    const kept: unknown[] = [];
    const loopOf = (length: number) => (iterations: number) => {
      for (let i = 0; i < iterations; i++) kept[i % 4] = length === 0 ? null : new Array(length).fill(i);
      return kept;
    };
    const [none, some, more] = [
      await bytesPerIteration(500, loopOf(0)),
      await bytesPerIteration(500, loopOf(100)),
      await bytesPerIteration(500, loopOf(1_000)),
    ];
    assert.ok(none < 40, `nothing allocated, found ${none}`);
    assert.ok(more > 5 * some && some > 100, `found ${some} and ${more}`);
  });
});

describe("a bound", () => {
  const cases: readonly (readonly [Partial<BenchRow>, boolean | null])[] = [
    [{}, null],
    [{ bound: "≤ 5" }, true],
    [{ bound: "≤ 4" }, true],
    [{ bound: "≤ 3.9" }, false],
    [{ bound: "≥ 5" }, false],
    [{ value: 20_000, bound: "≤ 15 000" }, false],
    [{ ratio: 0.7, bound: "≥ 0.6" }, true],
    [{ ratio: 0.5, bound: "≥ 0.6" }, false],
  ];
  for (const [wish, held] of cases) {
    it(`of ${JSON.stringify(wish)} is ${held === null ? "none" : held ? "held" : "missed"}`, () => {
      assert.equal(isHeld({ ...row, ...wish }), held);
    });
  }
  it("that cannot be read is a mistake", () =>
    assert.throws(() => isHeld({ ...row, bound: "fast" }), /not a bound: fast/));
});

describe("a table of figures", () => {
  it("lines its columns up and says which promises were kept", () => {
    const table = benchTable([
      { ...row, bound: "≤ 5" },
      { what: "longer thing", value: 123_456, unit: "queries/s", against: "echo", ratio: 0.512, bound: "≥ 0.6" },
    ]);
    assert.deepEqual(table.split("\n"), [
      "  a thing       4 µs                                      ≤ 5    held",
      "  longer thing  123\u2009000 queries/s  against echo  × 0.512  ≥ 0.6  missed",
      "",
    ]);
  });
});
