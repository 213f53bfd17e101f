/** Conversations while the store is slow or away. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConversationId } from "#shared/ids.ts";
import { CONVERSATION } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";
import { setUp } from "./conversation-gtm.ts";

describe("a store that is slower than the deadline", () => {
  it("is not waited for: null, a counter, one warning; what it says later is known from then on", async () => {
    const { startOne, untilStored, store } = await setUp();
    (await startOne()).turn("frankfurt");
    await untilStored(1);
    const gtm = await startOne();
    let answer: () => void = () => {};
    const slow = new Promise<void>((resolve) => {
      answer = resolve;
    });
    store.before = (operation) => (operation === "get" ? slow : undefined);
    assert.equal(await gtm.find(5), null);
    assert.equal(await gtm.find(5), null);
    assert.equal(await gtm.lookups("late"), 2);
    assert.deepEqual(
      gtm.log.lines.map(({ level, event, fields }) => [level, event, fields["operation"]]),
      [["warn", "store.failed", "conversation.find"]],
    );
    answer();
    await until(() => !(gtm.find(5) instanceof Promise));
    assert.equal((await gtm.find(5))?.holdings[0].region, "frankfurt");
  });
});

describe("a store that is away", () => {
  it("is not asked: what is cached is served, the rest is null, counted and warned of", async () => {
    const { startOne, untilStored, store, clock } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    store.isAway = true;
    clock.advance(10_000);
    const before = store.calls["get"] ?? 0;
    assert.equal((await gtm.find())?.holdings[0].region, "frankfurt");
    assert.equal(await gtm.find(50, ConversationId.parse("0000000000000")), null);
    assert.equal(await gtm.lookups("failed"), 1);
    assert.equal(store.calls["get"] ?? 0, before);
  });
  it("gets the turns that were committed meanwhile once it is back, the newest word of each conversation", async (test) => {
    const { startOne, stored, store, untilStored, clock } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    test.mock.timers.enable({ apis: ["setTimeout"] });
    store.isAway = true;
    clock.advance(1_000);
    gtm.turn("paris", { query: { promptTokens: 2_000 } });
    await untilCounted(() => gtm.counted("gtm_store_failures_total", { operation: "conversation.write" }));
    clock.advance(1_000);
    gtm.turn("virginia", { query: { promptTokens: 3_000 } });
    const tried = store.calls["compareAndSet"] ?? 0;
    test.mock.timers.tick(500);
    await turnOfTheLoop();
    assert.equal(store.calls["compareAndSet"] ?? 0, tried, "it is not asked while it says that it is away");
    assert.equal(await gtm.counted("gtm_pins_waiting"), 1);
    store.isAway = false;
    test.mock.timers.tick(500);
    await untilCounted(async () => ((await stored())?.rev === 2 ? 1 : 0));
    const record = await stored();
    assert.deepEqual(record?.h.map(([region, , tokens]) => [region, tokens])[0], ["virginia", 3_100]);
    assert.equal(record?.n, 3);
    await untilCounted(async () => 1 - (await gtm.counted("gtm_pins_waiting")));
  });
  it("leaves at most 10 000 waiting: the one that waited longest is given up and counted", async () => {
    const { startOne, store } = await setUp();
    const gtm = await startOne();
    store.isAway = true;
    const id = (at: number) => ConversationId.parse(String(at).padStart(13, "0"));
    for (let at = 0; at < 10_003; at++) gtm.turn("frankfurt", { query: { conversationId: id(at) } });
    assert.equal(await gtm.counted("gtm_pins_dropped_total", { reason: "too-many" }), 3);
    assert.equal(await gtm.counted("gtm_pins_waiting"), 10_000);
    assert.equal((await gtm.find(50, id(0)))?.holdings[0].region, "frankfurt", "the cache still knows it");
  });
});

describe("a GTM that stops", () => {
  it("has written what it committed", async () => {
    const { startOne, stored } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await gtm.stop();
    assert.equal((await stored())?.h[0]?.[0], "frankfurt");
  });
  it("does not hang on a store that is away", async () => {
    const { startOne, store } = await setUp();
    const gtm = await startOne();
    store.isAway = true;
    gtm.turn("frankfurt");
    await gtm.stop();
    assert.equal(await gtm.counted("gtm_pins_waiting"), 1);
    assert.equal((await gtm.find(50, CONVERSATION))?.holdings[0].region, "frankfurt");
  });
});

/** While the timers are the test's own, only turns of the event loop pass. */
const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const untilCounted = async (count: () => Promise<number>): Promise<void> => {
  for (let turn = 0; turn < 1_000; turn++) {
    if ((await count()) > 0) return;
    await turnOfTheLoop();
  }
  assert.fail("it did not come within 1 000 turns of the event loop");
};
