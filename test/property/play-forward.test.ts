/** Laws of a backlog played forward. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { playForward, type Send } from "#gtm/domain/serving.ts";
import { replicaId } from "#test/support/builders.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 2_000) };
const PATIENCE_MS = 2_000;
const ids = [0, 1, 2, 3].map((at) => replicaId("frankfurt", at));
const ms = fc.double({ min: 0, max: 10_000, noNaN: true });
const sends: fc.Arbitrary<Send[]> = fc
  .array(fc.record({ replica: fc.constantFrom(null, ...ids), arrivalAtMs: ms, workMs: ms }), { maxLength: 10 })
  .map((list) => list.toSorted((a, b) => a.arrivalAtMs - b.arrivalAtMs));
const backlogs = fc.array(ms, { minLength: 4, maxLength: 4 });
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe("a backlog played forward", () => {
  it("is never below zero", () => {
    fc.assert(
      fc.property(backlogs, sends, ms, (from, list, toMs) => {
        for (const backlog of playForward(from, ids, list, { fromMs: 0, toMs, patienceMs: PATIENCE_MS })) {
          assert.ok(backlog >= 0);
        }
      }),
      runs,
    );
  });

  it("loses no work: what is left is what there was, plus what arrived, less at most one ms a replica and ms", () => {
    fc.assert(
      fc.property(backlogs, sends, ms, (from, list, toMs) => {
        const arrived = sum(list.filter((send) => send.arrivalAtMs <= toMs).map((send) => send.workMs));
        const left = sum(playForward(from, ids, list, { fromMs: 0, toMs, patienceMs: PATIENCE_MS }));
        const most = sum(from) + arrived;
        assert.ok(left <= most + 1e-6, `${left} left of ${most}`);
        assert.ok(left >= most - ids.length * toMs - 1e-6, `${left} left of ${most} after ${toMs} ms`);
      }),
      runs,
    );
  });

  it("gives the same whether it is played in one step or in two", () => {
    fc.assert(
      fc.property(backlogs, sends, ms, ms, (from, list, a, b) => {
        const [middleMs, toMs] = [Math.min(a, b), Math.max(a, b)];
        const whole = playForward(from, ids, list, { fromMs: 0, toMs, patienceMs: PATIENCE_MS });
        const first = list.filter((send) => send.arrivalAtMs <= middleMs);
        const rest = list.filter((send) => send.arrivalAtMs > middleMs);
        const half = playForward(from, ids, first, { fromMs: 0, toMs: middleMs, patienceMs: PATIENCE_MS });
        const stepped = playForward(half, ids, rest, { fromMs: middleMs, toMs, patienceMs: PATIENCE_MS });
        for (const [at, backlog] of stepped.entries()) assert.ok(Math.abs(backlog - (whole[at] ?? 0)) < 1e-6);
      }),
      runs,
    );
  });

  it("books a turn on its holder while that waits at most 2 s longer than the least loaded, else there", () => {
    const [first] = ids;
    assert.ok(first !== undefined);
    const send: Send = { replica: first, arrivalAtMs: 0, workMs: 100 };
    const after = (holderMs: number) =>
      playForward([holderMs, 500], ids.slice(0, 2), [send], { fromMs: 0, toMs: 0, patienceMs: PATIENCE_MS });
    assert.deepEqual(after(2_500), [2_600, 500]);
    assert.deepEqual(after(2_501), [2_501, 600]);
  });
});
