/** What the ledger says of a conversation, and how it follows the turns. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { homeOf } from "#gtm/domain/conversation.ts";
import { ConversationId, ModelId } from "#shared/ids.ts";
import { conversationKey, KEYS, refusedKey } from "#shared/keys.ts";
import { aConversation, aRegion, CONVERSATION, MODEL, regionId } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";
import { homeIn, setUp } from "./conversation-gtm.ts";

describe("a conversation's first turn, 1 000 tokens of prompt and 100 of output, in Frankfurt", () => {
  it("is known at once, and claims the conversation in the store behind the answer", async () => {
    const { startOne, untilStored, store, listedIn } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    const known = gtm.find();
    assert.ok(known !== null && !(known instanceof Promise));
    assert.deepEqual(
      known.holdings.map(({ region, tokens }) => [region, tokens]),
      [["frankfurt", 1_100]],
    );
    await untilStored(1);
    await until(async () => (await listedIn()).includes("frankfurt"));
    assert.equal((await store.get(conversationKey(CONVERSATION)))?.remainingMs, 3_600_000);
  });
  it("counts the 4 096 tokens that a decision assumed where the prompt is not known", async () => {
    const { startOne } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt", { query: { promptTokens: null, outputTokens: null } });
    assert.equal((await gtm.find())?.holdings[0].tokens, 4_096);
  });
});

describe("a later request that does not say how long its prompt is, such as one for the list of models", () => {
  it("leaves the context as it was known", async () => {
    const { startOne } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    const conversation = await gtm.find();
    assert.ok(conversation !== null);
    gtm.turn("frankfurt", { conversation, query: { promptTokens: null } });
    assert.equal((await gtm.find())?.holdings[0].tokens, 1_100);
  });
});

describe("a later turn", () => {
  it("moves the conversation to where it was served, by compare-and-set, and slides the hour", async () => {
    const { startOne, stored, untilStored, clock, store, listedIn } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    clock.advance(60_000);
    gtm.turn("paris", { query: { promptTokens: 2_000 } });
    await untilStored(2);
    const record = await stored();
    assert.deepEqual(
      record?.h.map(([region, , tokens]) => [region, tokens]),
      [
        ["paris", 2_100],
        ["frankfurt", 1_100],
      ],
    );
    assert.equal(record?.n, 2);
    assert.equal((await store.get(conversationKey(CONVERSATION)))?.remainingMs, 3_600_000);
    await until(async () => String(await listedIn()) === "paris");
  });
  it("that comes while the one before is being written loses neither", async () => {
    const { startOne, stored, store, untilStored } = await setUp();
    const gtm = await startOne();
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    store.before = (operation) => (operation === "setIfAbsent" ? held : undefined);
    gtm.turn("frankfurt");
    gtm.turn("frankfurt", { query: { promptTokens: 5_000 } });
    letGo();
    await untilStored(2);
    assert.deepEqual(
      (await stored())?.h.map(([, , tokens]) => tokens),
      [5_100],
    );
    assert.equal((await stored())?.n, 2);
    assert.equal(store.calls["compareAndSet"], 1);
  });
});

describe("what is no turn of a conversation", () => {
  const cases = {
    "a DNS answer": { query: { channel: "dns", kind: "label" } },
    "an explanation": { query: { channel: "explain" } },
    "a turn without a conversation": { query: { conversationId: null } },
    "a turn that no region serves": { regions: [aRegion("frankfurt", { admin: "down" })] },
  } as const;
  for (const [what, wish] of Object.entries(cases)) {
    it(`leaves no trace: ${what}`, async () => {
      const { startOne, store } = await setUp();
      const gtm = await startOne();
      gtm.turn("frankfurt", wish);
      assert.equal(await gtm.find(), null);
      assert.equal(store.calls["setIfAbsent"], undefined);
      assert.deepEqual(gtm.live(), []);
    });
  }
});

describe("finding a conversation", () => {
  it("asks the store once, and then the cache, without waiting", async () => {
    const { startOne, untilStored, store } = await setUp();
    (await startOne()).turn("frankfurt");
    await untilStored(1);
    const other = await startOne();
    const asked = () => store.calls["get"] ?? 0;
    const before = asked();
    const [first, twin] = await Promise.all([other.find(), other.find()]);
    assert.equal(first && homeOf(first), "frankfurt");
    assert.deepEqual(twin, first);
    assert.equal(asked() - before, 2, "once for it, once for who refused it");
    assert.ok(!(other.find() instanceof Promise));
    assert.equal(await other.lookups("found"), 2);
    assert.equal(await other.lookups("cached"), 1);
  });
  it("of which nothing is known is absent", async () => {
    const { startOne } = await setUp();
    const gtm = await startOne();
    assert.equal(await gtm.find(), null);
    assert.equal(await gtm.lookups("absent"), 1);
  });
  it("looks again after 2 s behind the answer, which still says what was known", async () => {
    const { startOne, untilStored, clock, store } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    const other = await startOne();
    await other.find();
    store.before = (operation) => (operation === "announce" ? Promise.reject(new Error("lost on the way")) : undefined);
    clock.advance(1_999);
    gtm.turn("paris");
    await untilStored(2);
    const home = async () => homeOf((await other.find()) ?? aConversation({ home: "none", contextTokens: 0 }));
    assert.equal(await home(), "frankfurt");
    clock.advance(1);
    assert.equal(await home(), "frankfurt");
    await until(async () => (await home()) === "paris");
  });
  it("hears at once that another GTM served a turn, and no longer counts what it keeps alive", async () => {
    const { startOne, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    assert.equal(gtm.live()[0]?.tokens, 1_100 * 0.75);
    await other.find();
    clock.advance(1_000);
    other.turn("paris");
    await until(async () => (await gtm.find())?.holdings[0].region === "paris");
    await until(() => gtm.live().length === 0, "the other one counts it");
    assert.equal(other.live().length, 1);
  });
  it("says who refused it within the last seconds", async () => {
    const { startOne, untilStored, store } = await setUp();
    (await startOne()).turn("frankfurt");
    await untilStored(1);
    const record = { v: 1, region: "frankfurt", reason: "full" };
    await store.put(refusedKey(CONVERSATION), JSON.stringify(record), KEYS.refused.ttlMs);
    assert.deepEqual((await (await startOne()).find())?.refusedBy, ["frankfurt"]);
  });
  it("says nothing of what was held an hour ago", async () => {
    const { startOne, clock, untilStored } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    clock.advance(3_600_000);
    assert.equal(await gtm.find(), null);
  });
  it("still tells of a conversation whose pin has run out: what is held counts for an hour", async () => {
    const { startOne, clock } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    clock.advance(901_000);
    assert.equal((await gtm.find())?.holdings[0].region, "frankfurt");
  });
  it("leaves a record alone that is none, and answers without it", async () => {
    const { startOne, store } = await setUp();
    const gtm = await startOne();
    await store.put(conversationKey(CONVERSATION), "{}", 60_000);
    assert.equal(await gtm.find(), null);
    assert.equal(await gtm.lookups("failed"), 1);
    assert.equal((await store.get(conversationKey(CONVERSATION)))?.value, "{}");
    gtm.turn("frankfurt");
    await until(async () => (await gtm.counted("gtm_pins_dropped_total", { reason: "refused" })) === 1);
    assert.equal((await store.get(conversationKey(CONVERSATION)))?.value, "{}");
  });
});

describe("two GTMs that place one new conversation at the same moment", () => {
  it("both end up with the winner's choice; the loser counts a lost claim", async () => {
    const { startOne, stored, untilStored } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    other.turn("paris");
    await untilStored(1);
    const winner = homeIn(await stored());
    await until(async () => {
      const homes = await Promise.all([gtm, other].map(async (one) => (await one.find())?.holdings[0].region));
      return homes.every((home) => home === winner);
    });
    assert.equal(
      (await gtm.counted("gtm_pin_claims_lost_total")) + (await other.counted("gtm_pin_claims_lost_total")),
      1,
    );
    assert.equal((await stored())?.n, 1);
  });
});

describe("two GTMs that serve turns of one conversation in parallel", () => {
  it("keep its home within one second, and both holdings", async () => {
    const { startOne, stored, untilStored } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    gtm.turn("frankfurt", { query: { promptTokens: 2_000 } });
    other.turn("paris", { query: { promptTokens: 3_000 } });
    await untilStored(3);
    const record = await stored();
    assert.deepEqual(record?.h.map(([region]) => region).toSorted(), ["frankfurt", "paris"]);
  });
  it("follow the newer where a second lies between", async () => {
    const { startOne, stored, untilStored, store, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    store.before = (operation) => (operation === "announce" ? Promise.reject(new Error("lost on the way")) : undefined);
    clock.advance(1_000);
    gtm.turn("frankfurt", { query: { promptTokens: 2_000 } });
    await untilStored(2);
    clock.advance(1_000);
    other.turn("paris");
    await untilStored(3);
    assert.equal(homeIn(await stored()), "paris");
    assert.deepEqual(
      (await stored())?.h.map(([region, , tokens]) => [region, tokens]),
      [
        ["paris", 1_100],
        ["frankfurt", 2_100],
      ],
    );
  });
});

describe("a conversation that changes its model", () => {
  it("starts anew upon the same record", async () => {
    const { startOne, stored, untilStored } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    const other = ModelId.parse("other");
    const placements = new Map(aRegion("paris").placements);
    const placement = placements.get(MODEL);
    assert.ok(placement);
    placements.set(other, { ...placement, model: other });
    gtm.turn("paris", { regions: [aRegion("paris", { placements })], query: { model: other } });
    await untilStored(2);
    assert.deepEqual([(await stored())?.m, (await stored())?.n, (await stored())?.h.length], ["other", 1, 1]);
  });
});

describe("a store that was wiped", () => {
  it("is offered what we know at the next look", async () => {
    const { startOne, stored, untilStored, clock, store } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    await store.remove(conversationKey(CONVERSATION));
    clock.advance(2_000);
    assert.equal((await gtm.find())?.holdings[0].region, "frankfurt");
    await until(async () => (await stored()) !== null);
    assert.equal(homeIn(await stored()), "frankfurt");
  });
  it("gets the conversation with its next turn", async () => {
    const { startOne, stored, untilStored, store, clock } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    await store.remove(conversationKey(CONVERSATION));
    clock.advance(1_000);
    gtm.turn("paris");
    await until(async () => (await stored())?.n === 2);
    assert.equal(homeIn(await stored()), "paris");
  });
});

describe("releasing a conversation", () => {
  it("forgets it here, in the store and on the other GTMs", async () => {
    const { startOne, stored, untilStored, listedIn } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    assert.equal(await gtm.release(CONVERSATION, null), "released");
    assert.equal(await stored(), null);
    assert.deepEqual(await listedIn(), []);
    assert.deepEqual(gtm.live(), []);
    await until(async () => (await other.find()) === null);
    assert.equal(await gtm.find(), null);
    assert.equal(await gtm.release(CONVERSATION, null), "unknown");
  });
  it("leaves it where it changed since it was seen", async () => {
    const { startOne, stored, untilStored, clock } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    await other.find();
    clock.advance(5_000);
    other.turn("virginia");
    await untilStored(2);
    assert.equal(await gtm.release(CONVERSATION, 1), "changed");
    assert.equal((await stored())?.rev, 2);
    assert.equal(await gtm.release(CONVERSATION, 2), "released");
    assert.equal(await stored(), null);
  });
  it("by what two saw, at once at two GTMs, is done once", async () => {
    const { startOne, stored, untilStored } = await setUp();
    const [gtm, other] = [await startOne(), await startOne()];
    gtm.turn("frankfurt");
    await untilStored(1);
    const done = await Promise.all([gtm.release(CONVERSATION, 1), other.release(CONVERSATION, 1)]);
    assert.equal(done.filter((one) => one === "released").length, 1, done.join(" "));
    assert.equal(await stored(), null);
  });
});

describe("the list of conversations", () => {
  const id = (at: number) => ConversationId.parse(String(at).padStart(13, "0"));
  const filled = async () => {
    const scene = await setUp();
    const gtm = await scene.startOne();
    for (let at = 0; at < 5; at++) {
      scene.clock.advance(1_000);
      gtm.turn(at % 2 === 0 ? "frankfurt" : "paris", { query: { conversationId: id(at) } });
    }
    const list = (region: string | null, limit: number, cursor: string | null = null) =>
      gtm.list({ region: region === null ? null : regionId(region), limit, cursor });
    await until(async () => (await list(null, 10)).items.length === 5);
    return { ...scene, gtm, list };
  };
  const ids = (page: { readonly items: readonly { readonly id: string }[] }) => page.items.map((one) => Number(one.id));

  it("shows those at home in a region, latest turn first", async () => {
    const { list } = await filled();
    assert.deepEqual(ids(await list("frankfurt", 10)), [4, 2, 0]);
    assert.deepEqual(ids(await list("paris", 10)), [3, 1]);
    assert.deepEqual(ids(await list(null, 10)), [4, 3, 2, 1, 0]);
  });
  it("comes in pages", async () => {
    const { list } = await filled();
    const first = await list(null, 2);
    const second = await list(null, 2, first.nextCursor);
    const third = await list(null, 2, second.nextCursor);
    assert.deepEqual([ids(first), ids(second), ids(third)], [[4, 3], [2, 1], [0]]);
    assert.equal(third.nextCursor, null);
  });
  it("repairs what its index says wrongly", async () => {
    const { list, store } = await filled();
    await store.remove(conversationKey(id(2)));
    assert.deepEqual(ids(await list("frankfurt", 10)), [4, 0]);
    const before = store.calls["indexRemove"] ?? 0;
    assert.deepEqual(ids(await list("frankfurt", 10)), [4, 0]);
    assert.equal(store.calls["indexRemove"] ?? 0, before);
  });
  it("says that the store is away", async () => {
    const { list, gtm, store } = await filled();
    store.isAway = true;
    await assert.rejects(list(null, 10), { code: "GTM_STORE_UNREACHABLE" });
    await assert.rejects(gtm.get(id(1)), { code: "GTM_STORE_UNREACHABLE" });
    await assert.rejects(gtm.release(id(1), null), { code: "GTM_STORE_UNREACHABLE" });
  });
});
