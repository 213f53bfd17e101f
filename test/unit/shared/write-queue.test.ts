/** What waits to be written, when some of it cannot be: which keys hold up which. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetrics } from "#shared/metrics.ts";
import { createWriteQueue, type WriteQueue } from "#shared/write-queue.ts";
import { until } from "#test/support/until.ts";

const setUp = (wish: { readonly isUp?: () => boolean; readonly most?: number } = {}) => {
  const lost = new Set<string>();
  const written: string[] = [];
  const tried: string[] = [];
  const dropped: string[] = [];
  const failedWhenWritten: number[] = [];
  const queue: WriteQueue<string, number> = createWriteQueue<string, number>({
    write: async (key) => {
      tried.push(key);
      if (lost.has(key)) throw new Error(`nobody serves ${key}`);
      written.push(key);
      queue.remove(key);
    },
    onFailed: () => undefined,
    onWritten: () => failedWhenWritten.push(queue.failed()),
    onDropped: (key) => dropped.push(key),
    isUp: wish.isUp ?? (() => true),
    random: () => 0,
    size: createMetrics().gauge({ name: "gtm_waiting", help: "Waiting." }),
    most: wish.most ?? 100,
  });
  return { queue, lost, written, tried, dropped, failedWhenWritten };
};

describe("a key that nobody serves, as in a Cluster that lost a primary", () => {
  it("waits, while others are written at once", async () => {
    const { queue, lost, written, failedWhenWritten } = setUp();
    lost.add("lost");
    queue.add("lost", 1);
    for (const key of ["a", "b", "c"]) queue.add(key, 1);
    await until(() => written.length === 3);
    assert.deepEqual(written, ["a", "b", "c"]);
    assert.equal(queue.get("lost"), 1);
    assert.deepEqual(failedWhenWritten, [1, 1, 1], "that it waits is known whatever else is written");
    queue.stop();
  });
  it("is not tried again for every other key that is added", async () => {
    const { queue, lost, written, tried } = setUp();
    lost.add("lost");
    queue.add("lost", 1);
    for (let at = 0; at < 50; at++) queue.add(`key ${at}`, at);
    await until(() => written.length === 50);
    assert.equal(tried.filter((key) => key === "lost").length, 1);
    queue.stop();
  });
  it("is written when it is served again", async () => {
    const { queue, lost, written, failedWhenWritten } = setUp();
    lost.add("lost");
    queue.add("lost", 1);
    await until(() => queue.failed() === 1);
    lost.clear();
    await until(() => written.includes("lost"));
    assert.equal(failedWhenWritten.at(-1), 0);
    assert.equal(queue.size(), 0);
    queue.stop();
  });
  it("takes a newer word meanwhile, and keeps resting", async () => {
    const { queue, lost, tried } = setUp();
    lost.add("lost");
    queue.add("lost", 1);
    await until(() => queue.failed() === 1);
    queue.add("lost", 2);
    assert.equal(queue.get("lost"), 2);
    assert.deepEqual(tried, ["lost"]);
    queue.stop();
  });
});

describe("a store that takes nothing", () => {
  it("is left in peace after eight failures in a row, until the next try", async () => {
    const { queue, lost, tried } = setUp();
    const keys = Array.from({ length: 90 }, (_, at) => `key ${at}`);
    for (const key of keys) lost.add(key);
    for (const key of keys) queue.add(key, 1);
    await until(() => queue.failed() >= 8);
    await queue.drained();
    // What was under way when the eighth failed is the most.
    assert.ok(tried.length <= 32 + 8, `${tried.length} were tried`);
    assert.equal(queue.size(), 90);
    queue.stop();
  });
  it("is not tried at all while it is away", async () => {
    let isUp = true;
    const { queue, lost, tried } = setUp({ isUp: () => isUp });
    lost.add("first");
    isUp = false;
    queue.add("first", 1);
    await queue.drained();
    for (let at = 0; at < 20; at++) queue.add(`key ${at}`, at);
    assert.deepEqual(tried, ["first"]);
    isUp = true;
    await until(() => tried.length > 20, "the replay");
    queue.stop();
  });
  it("loses what has waited longest where too many wait", async () => {
    const { queue, lost, dropped } = setUp({ most: 3 });
    for (const key of ["a", "b", "c", "d"]) lost.add(key);
    for (const key of ["a", "b", "c"]) queue.add(key, 1);
    await until(() => queue.failed() === 3);
    queue.add("a", 2);
    queue.add("d", 1);
    assert.deepEqual(dropped, ["b"]);
    assert.equal(queue.get("b"), null);
    assert.equal(queue.failed(), 2, "what is forgotten has not failed");
    queue.stop();
  });
});
