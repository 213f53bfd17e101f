import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { homeOf } from "#gtm/domain/conversation.ts";
import { conversationKey, sizesKey } from "#shared/keys.ts";
import { CONVERSATION, regionId } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";
import { homeIn, setUp } from "./conversation-gtm.ts";

const scene = async () => {
  const all = await setUp();
  const [gtm, other] = [await all.startOne(), await all.startOne()];
  gtm.turn("frankfurt");
  await all.untilStored(1);
  await other.find();
  return { ...all, gtm, other, paris: regionId("paris") };
};

describe("ordering a conversation to another region", () => {
  it("makes it at home there for every GTM, and lists it there", async () => {
    const { gtm, other, stored, listedIn, store, paris } = await scene();
    const moved = await gtm.move(CONVERSATION, paris, 1);
    assert.ok(moved.kind === "moved" && moved.conversation.isHomeOrdered === true);
    const record = await stored();
    assert.deepEqual([homeIn(record), record?.o, record?.rev], ["paris", 1, 2]);
    assert.deepEqual(await listedIn(), ["paris"]);
    assert.deepEqual((await store.indexTop(sizesKey(paris), Number.MAX_SAFE_INTEGER, 5)).length, 1);
    assert.equal((await gtm.find())?.isHomeOrdered, true);
    await until(async () => {
      const heard = await other.find();
      return heard !== null && homeOf(heard) === "paris" && heard.isHomeOrdered === true;
    });
  });
  it("is done once a turn was served there", async () => {
    const { gtm, stored, untilStored, clock, paris } = await scene();
    await gtm.move(CONVERSATION, paris, null);
    clock.advance(5_000);
    gtm.turn("paris");
    await untilStored(3);
    const record = await stored();
    assert.deepEqual([homeIn(record), record?.o, record?.h.length], ["paris", undefined, 2]);
  });
  it("does not undo what somebody did since", async () => {
    const { gtm, other, stored, untilStored, clock, paris } = await scene();
    clock.advance(5_000);
    other.turn("virginia");
    await untilStored(2);
    assert.deepEqual(await gtm.move(CONVERSATION, paris, 1), { kind: "changed" });
    assert.equal(homeIn(await stored()), "virginia");
  });
  it("says that nothing is known of it", async () => {
    const { startOne, stored } = await setUp();
    const gtm = await startOne();
    assert.deepEqual(await gtm.move(CONVERSATION, regionId("paris"), null), { kind: "unknown" });
    assert.equal(await stored(), null);
  });
  it("says that the store is away", async () => {
    const { gtm, store, paris } = await scene();
    store.isAway = true;
    await assert.rejects(gtm.move(CONVERSATION, paris, null), { code: "GTM_STORE_UNREACHABLE" });
    store.isAway = false;
    assert.equal(JSON.parse((await store.get(conversationKey(CONVERSATION)))?.value ?? "{}").o, undefined);
  });
});
