import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecisionIds } from "#gtm/decision-id.ts";
import { DecisionId } from "#shared/ids.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

describe("ids of decisions", () => {
  it("are ULIDs, all different and in the order they were made, within a millisecond and across", () => {
    const clock = createManualClock();
    const newId = createDecisionIds(clock);
    const ids: string[] = [];
    for (let i = 0; i < 1_000; i++) {
      if (i % 3 === 0) clock.advance(1);
      ids.push(DecisionId.parse(newId()));
    }
    assert.equal(new Set(ids).size, 1_000);
    assert.deepEqual(ids.toSorted(), ids);
  });
  it("differ between two instances that start in the same millisecond", () => {
    const clock = createManualClock();
    assert.notEqual(createDecisionIds(clock)(), createDecisionIds(clock)());
  });
  it("sort by time across instances", () => {
    const clock = createManualClock();
    const earlier = createDecisionIds(clock)();
    clock.advance(1);
    assert.ok(earlier < createDecisionIds(clock)());
  });
});
