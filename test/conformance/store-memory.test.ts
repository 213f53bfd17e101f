/** The memory store is a store; and what only it promises. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore } from "#shared/store-memory.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { storeConformance } from "./store.ts";

storeConformance("memory:", async () => {
  const clock = createManualClock();
  const store = createMemoryStore(clock, () => {});
  return { store, advance: async (ms) => clock.advance(ms), close: () => store.close() };
});

describe("the memory store's clock", () => {
  it("is the monotonic one: setting the time of day expires nothing", async () => {
    const clock = createManualClock();
    const store = createMemoryStore(clock);
    await store.put("key", "value", 1_000);
    clock.setEpochMs(Date.UTC(2030, 0, 1));
    assert.deepEqual(await store.get("key"), { value: "value", remainingMs: 1_000 });
  });
  it("keeps a value until exactly its time is over", async () => {
    const clock = createManualClock();
    const store = createMemoryStore(clock);
    await store.put("key", "value", 1_000);
    clock.advance(999.5);
    assert.deepEqual(await store.get("key"), { value: "value", remainingMs: 0.5 });
    clock.advance(0.5);
    assert.equal(await store.get("key"), null);
  });
  it("names stream entries in order even when the time of day is set back", async () => {
    const clock = createManualClock();
    const store = createMemoryStore(clock);
    const first = await store.append("stream", "first", 10);
    clock.setEpochMs(Date.UTC(2020, 0, 1));
    const second = await store.append("stream", "second", 10);
    const [firstMs, secondMs] = [first, second].map((id) => id.split("-")[0]);
    assert.equal(firstMs, secondMs);
    assert.notEqual(first, second);
  });
});

describe("the memory store's refusals", () => {
  it("are RangeErrors, since no configuration leads to them", async () => {
    const store = createMemoryStore(createManualClock());
    await assert.rejects(() => store.put("key", "value", 0), RangeError);
    await assert.rejects(() => store.setIfAbsent("key", "value", Number.NaN), RangeError);
    await assert.rejects(() => store.indexAdd("index", "member", Number.NaN), RangeError);
    await assert.rejects(() => store.append("stream", "value", 0), RangeError);
  });
});

describe("a subscriber of the memory store that throws", () => {
  it("is reported to whoever made the store", async () => {
    const faults: unknown[] = [];
    const { promise: reported, resolve } = Promise.withResolvers<void>();
    const store = createMemoryStore(createManualClock(), (fault) => {
      faults.push(fault);
      resolve();
    });
    const bug = new Error("a subscriber's bug");
    await store.subscribe("channel", () => {
      throw bug;
    });
    await store.announce("channel", "message");
    await reported;
    assert.deepEqual(faults, [bug]);
  });
});
