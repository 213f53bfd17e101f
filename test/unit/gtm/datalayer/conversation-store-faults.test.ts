/** Conversations on a store that loses answers, writes or everything, or that takes no more. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OperationalError } from "#shared/errors.ts";
import { ConversationId } from "#shared/ids.ts";
import { conversationKey, KEYS } from "#shared/keys.ts";
import { CONVERSATION } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";
import { homeIn, setUp } from "./conversation-gtm.ts";

const KEY = conversationKey(CONVERSATION);
const TTL_MS = KEYS.conversation.ttlMs;
const id = (at: number) => ConversationId.parse(String(at).padStart(13, "0"));
const unreachable = () => new OperationalError("GTM_STORE_UNREACHABLE", "the answer was lost");
const refusing = () => new OperationalError("GTM_STORE_REFUSED", "OOM command not allowed");

describe("a write that was done and whose answer was lost", () => {
  const lostOnce = async (operation: "setIfAbsent" | "compareAndSet") => {
    const scene = await setUp();
    const real = scene.store[operation] as (...args: unknown[]) => Promise<unknown>;
    let lost = 0;
    Object.assign(scene.store, {
      [operation]: async (...args: unknown[]) => {
        const answer = await real(...args);
        if (lost++ === 0) throw unreachable();
        return answer;
      },
    });
    return scene;
  };

  it("of a claim is known again as ours: no lost claim, no second revision, and listed", async () => {
    const { startOne, stored, listedIn } = await lostOnce("setIfAbsent");
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await until(async () => (await gtm.counted("gtm_pins_waiting")) === 0 && (await listedIn()).length === 1);
    assert.deepEqual([(await stored())?.rev, (await stored())?.n], [1, 1]);
    assert.equal(await gtm.counted("gtm_pin_claims_lost_total"), 0);
  });
  it("of a move counts the turn once, and lists it where it is", async () => {
    const { startOne, stored, listedIn, untilStored, clock } = await lostOnce("compareAndSet");
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    clock.advance(5_000);
    gtm.turn("paris");
    await until(async () => String(await listedIn()) === "paris");
    assert.deepEqual([(await stored())?.rev, (await stored())?.n, homeIn(await stored())], [2, 2, "paris"]);
  });
});

describe("a replica that took over without the last writes", () => {
  it("is given them again at the next look, on top of what it has", async () => {
    const { startOne, stored, store, untilStored, clock } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    const before = (await store.get(KEY))?.value ?? "";
    clock.advance(5_000);
    gtm.turn("paris");
    await untilStored(2);
    clock.advance(2_000);
    await store.put(KEY, before, TTL_MS - 7_000);
    assert.equal((await gtm.find())?.holdings[0].region, "paris");
    await until(async () => homeIn(await stored()) === "paris");
    assert.deepEqual([(await stored())?.rev, (await stored())?.n], [2, 2]);
    assert.equal(await gtm.counted("gtm_pins_offered_total", { because: "older" }), 1);
    clock.advance(2_000);
    await gtm.find();
    assert.equal((await stored())?.rev, 2, "once it is repaired it stays");
  });
  it("on which another GTM has gone on: the newer turn is home, and no holding is lost", async () => {
    const { startOne, stored, store, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    const before = (await store.get(KEY))?.value ?? "";
    clock.advance(5_000);
    gtm.turn("paris");
    await untilStored(2);
    store.before = (operation) => (operation === "announce" ? Promise.reject(unreachable()) : undefined);
    await store.put(KEY, before, TTL_MS - 5_000);
    await other.find();
    clock.advance(5_000);
    other.turn("virginia");
    await until(async () => homeIn(await stored()) === "virginia");
    clock.advance(2_000);
    await gtm.find();
    await until(async () => (await stored())?.h.length === 3);
    assert.deepEqual(
      (await stored())?.h.map(([region]) => region),
      ["virginia", "paris", "frankfurt"],
    );
    await until(async () => (await gtm.find())?.holdings[0].region === "virginia");
  });
});

describe("a store that refuses writes", () => {
  it("gets them when it takes them again; meanwhile they wait, counted, and pins are degraded", async () => {
    const { startOne, stored, store } = await setUp();
    const gtm = await startOne();
    store.before = (operation) => (operation === "setIfAbsent" ? Promise.reject(refusing()) : undefined);
    gtm.turn("frankfurt");
    await until(() => gtm.degraded().length > 0);
    assert.match(gtm.degraded().join(), /^pins: .*refuses them/);
    assert.equal(await gtm.counted("gtm_pins_waiting"), 1);
    assert.equal((await gtm.find())?.holdings[0].region, "frankfurt");
    store.before = () => {};
    await until(async () => (await stored())?.rev === 1);
    await until(() => gtm.degraded().length === 0);
  });
  it("is not asked for each of 1 000 again and again", async () => {
    const { startOne, store } = await setUp();
    const gtm = await startOne();
    store.before = (operation) => (operation === "setIfAbsent" ? Promise.reject(refusing()) : undefined);
    for (let at = 0; at < 1_000; at++) gtm.turn("frankfurt", { query: { conversationId: id(at) } });
    await until(async () => (await gtm.counted("gtm_store_failures_total", { operation: "conversation.write" })) >= 8);
    assert.ok((store.calls["setIfAbsent"] ?? 0) <= 64, `${store.calls["setIfAbsent"]} writes were tried`);
  });
  it("for one key alone does not hold up the others", async () => {
    const { startOne, store, stored } = await setUp();
    const gtm = await startOne();
    store.before = (operation, key) =>
      operation === "setIfAbsent" && key === KEY ? Promise.reject(refusing()) : undefined;
    gtm.turn("frankfurt");
    for (let at = 0; at < 100; at++) gtm.turn("frankfurt", { query: { conversationId: id(at) } });
    await until(async () => (await gtm.counted("gtm_pins_waiting")) === 1);
    assert.equal(await stored(), null);
    assert.equal(await gtm.counted("gtm_store_failures_total", { operation: "conversation.write" }), 1);
  });
});

describe("what other GTMs change", () => {
  it("a hundred times between two looks is read once", async () => {
    const { startOne, store, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    let reads = 0;
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    store.before = (operation, key) => {
      if (operation !== "get" || key !== KEY) return;
      reads++;
      return held;
    };
    for (let rev = 2; rev < 102; rev++) await store.announce("gtm:v1:changed", JSON.stringify({ key: KEY, rev }));
    clock.advance(1);
    await until(() => reads > 0);
    letGo();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(reads <= 2, `${reads} reads: one a GTM`);
  });
  it("and nobody here has cached is not read", async () => {
    const { startOne, store } = await setUp();
    await startOne();
    for (let at = 0; at < 1_000; at++)
      await store.announce("gtm:v1:changed", JSON.stringify({ key: conversationKey(id(at)), rev: 1 }));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(store.calls["get"] ?? 0, 0);
  });
  it("is asked of the store before it is used, and the cache answers when that is slow", async () => {
    const { startOne, store, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    clock.advance(1_000);
    store.before = (operation, key) => (operation === "get" && key === KEY ? new Promise(() => {}) : undefined);
    gtm.turn("paris");
    await untilLost(() => other.find(5));
    assert.equal((await other.find(5))?.holdings[0].region, "frankfurt");
    assert.ok((await other.lookups("late")) > 0);
  });
  it("while nothing is heard is looked up before it is used", async () => {
    const { startOne, store, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    store.before = (operation) => (operation === "announce" ? Promise.reject(unreachable()) : undefined);
    clock.advance(2_500);
    gtm.turn("paris");
    await untilStored(2);
    assert.equal((await other.find())?.holdings[0].region, "paris");
  });
});

/** The announcement has come when a find waits for the store. */
const untilLost = (find: () => unknown): Promise<void> => until(() => find() instanceof Promise);

describe("a store that was wiped, and noticed to be", () => {
  it("is offered every pin again, the newest first, and none whose pin is over", async () => {
    const { startOne, store, clock, untilStored } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt", { query: { conversationId: id(0) } });
    clock.advance(901_000);
    gtm.turn("frankfurt");
    for (let at = 1; at < 300; at++) gtm.turn("paris", { query: { conversationId: id(at) } });
    await until(async () => (await gtm.counted("gtm_pins_waiting")) === 0);
    for (let at = 0; at < 300; at++) await store.remove(conversationKey(id(at)));
    await store.remove(KEY);
    const tried = () => store.calls["compareAndSet"] ?? 0;
    const before = tried();
    gtm.reoffer();
    await untilStored(2);
    await until(async () => (await gtm.counted("gtm_pins_waiting")) === 0);
    assert.equal(await gtm.counted("gtm_pins_reoffered_total"), 300);
    assert.equal(tried() - before, 300);
    assert.equal(await store.get(conversationKey(id(0))), null);
    assert.ok((await store.get(conversationKey(id(299)))) !== null);
  });
  it("gets each once from two GTMs that know the same", async () => {
    const { startOne, store, stored, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    clock.advance(10_000);
    await store.remove(KEY);
    gtm.reoffer();
    other.reoffer();
    await until(async () => (await gtm.counted("gtm_pins_reoffered_total")) === 1);
    await until(async () => (await other.counted("gtm_pins_reoffered_total")) === 1);
    for (const one of [gtm, other]) await until(async () => (await one.counted("gtm_pins_waiting")) === 0);
    assert.deepEqual([(await stored())?.rev, (await stored())?.n], [2, 1]);
  });
});
