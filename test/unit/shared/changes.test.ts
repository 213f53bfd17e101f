/** Several who listen to changes on one store: one subscription, as long as anybody listens. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { announceChange, subscribeToChanges } from "#shared/changes.ts";
import { changedChannel } from "#shared/keys.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { until } from "#test/support/until.ts";

const setUp = () => {
  const store = createFallibleStore(createMemoryStore(createManualClock()));
  const heard: string[] = [];
  const listen = (name: string) => subscribeToChanges(store, ({ key, rev }) => heard.push(`${name} ${key} ${rev}`));
  return { store, heard, listen };
};

describe("two who listen to the changes of one store", () => {
  it("both hear each change, by one subscription, and nothing that is no change", async () => {
    const { store, heard, listen } = setUp();
    await Promise.all([listen("a"), listen("b")]);
    await listen("c");
    for (const message of ["{", "null", '{"key":7}']) await store.announce(changedChannel(), message);
    await announceChange(store, "k", 3);
    await until(() => heard.length === 3);
    assert.deepEqual(heard, ["a k 3", "b k 3", "c k 3"]);
    assert.equal(store.calls["subscribe"], 1);
  });
  it("end the subscription with the last of them, and begin another", async () => {
    const { store, heard, listen } = setUp();
    const [first, second] = [await listen("a"), await listen("b")];
    first();
    first();
    await announceChange(store, "k", 1);
    await until(() => heard.length === 1);
    second();
    await announceChange(store, "k", 2);
    await listen("c");
    await announceChange(store, "k", 3);
    await until(() => heard.length === 2);
    assert.deepEqual([heard, store.calls["subscribe"]], [["b k 1", "c k 3"], 2]);
  });
  it("are both told where the store does not take it, and may try again", async () => {
    const { store, heard, listen } = setUp();
    store.isAway = true;
    for (const one of await Promise.allSettled([listen("a"), listen("b")])) assert.equal(one.status, "rejected");
    store.isAway = false;
    await listen("a");
    await announceChange(store, "k", 1);
    await until(() => heard.length === 1);
    assert.deepEqual(heard, ["a k 1"]);
  });
});
