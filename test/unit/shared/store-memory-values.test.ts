import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryValues } from "#shared/store-memory-values.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

describe("values that expire after 10 ms, one put each millisecond and none read", () => {
  it("are never more than a few dozen in memory", () => {
    const clock = createManualClock();
    const values = createMemoryValues(clock);
    let most = 0;
    for (let i = 0; i < 5_000; i++) {
      values.put(`key:${i}`, "value", 10);
      clock.advance(1);
      most = Math.max(most, values.count());
    }
    assert.ok(most <= 50, `expected at most 50, found ${most}`);
    assert.deepEqual(values.get("key:4999"), { value: "value", remainingMs: 9 });
  });
});

describe("a thousand values that last beside many that expire", () => {
  it("are all kept by the sweep", () => {
    const clock = createManualClock();
    const values = createMemoryValues(clock);
    for (let i = 0; i < 1_000; i++) values.put(`lasting:${i}`, String(i), null);
    for (let i = 0; i < 3_000; i++) {
      values.put(`short:${i}`, "value", 10);
      clock.advance(1);
    }
    for (let i = 0; i < 1_000; i++) assert.equal(values.get(`lasting:${i}`)?.value, String(i));
    assert.ok(values.count() < 1_300, `expected the short ones to be gone, found ${values.count()}`);
  });
});

describe("an expired value that is read", () => {
  it("leaves memory at once", () => {
    const clock = createManualClock();
    const values = createMemoryValues(clock);
    values.put("key", "value", 10);
    clock.advance(10);
    assert.equal(values.get("key"), null);
    assert.equal(values.count(), 0);
  });
});
