import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeTime } from "ulid";
import { createDecisionIds, createSharedIds } from "#gtm/decision-id.ts";
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

describe("ids of what several threads decide alike", () => {
  const epoch = { atEpochMs: 1_796_000_000_123.5, world: { version: 7 } };
  it("are ULIDs of the epoch's time, the same in each thread", () => {
    const id = DecisionId.parse(createSharedIds("salt")(epoch, "chat|frankfurt"));
    assert.equal(createSharedIds("salt")(epoch, "chat|frankfurt"), id);
    assert.equal(decodeTime(id), 1_796_000_000_123);
  });
  it("differ by cell, by world and by process, all over", () => {
    const newId = createSharedIds("salt");
    const others = [
      newId({ ...epoch, world: { version: 8 } }, "a"),
      newId(epoch, "b"),
      createSharedIds("pepper")(epoch, "a"),
      ...Array.from({ length: 1_000 }, (_, i) => newId(epoch, `cell-${i}`)),
    ];
    assert.equal(new Set([newId(epoch, "a"), ...others]).size, 1_004);
    for (let at = 10; at < 26; at++) assert.ok(new Set(others.map((id) => id[at])).size > 24, `letter ${at}`);
  });
});
