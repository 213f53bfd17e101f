/** The ledger where a gateway writes it too, where it was released, and where the store answers late. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conversationKey } from "#shared/keys.ts";
import { aRegion, CONVERSATION, regionId, replicaId } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { createLedgerGateway } from "#test/support/ledger-gateway.ts";
import { until } from "#test/support/until.ts";
import { homeIn, setUp } from "./conversation-gtm.ts";

const REPLICA = replicaId("frankfurt", 1);

const withGateway = async () => {
  const scene = await setUp();
  const gtm = await scene.startOne();
  const gateway = createLedgerGateway(scene.store, scene.clock, regionId("frankfurt"));
  gtm.turn("frankfurt");
  await scene.untilStored(1);
  const homeHolding = async () => (await gtm.find())?.holdings[0];
  return { ...scene, gtm, gateway, homeHolding };
};

describe("a turn that was estimated at 1 100 tokens, and that the gateway measured at 1 700", () => {
  const measured = async () => {
    const scene = await withGateway();
    scene.clock.advance(4_000);
    assert.ok(await scene.gateway.measured(CONVERSATION, REPLICA, 1_700));
    await until(async () => (await scene.homeHolding())?.tokens === 1_700, "it is adopted");
    return scene;
  };

  it("is known as measured, with its replica, and counts as much in the region's cache", async () => {
    const { gtm, homeHolding } = await measured();
    assert.equal((await homeHolding())?.replica, REPLICA);
    await until(() => gtm.live()[0]?.tokens === 1_700 * 0.75, "the live tokens are corrected");
  });
  it("is not made less by the next turn's estimate, which names no replica until it is measured", async () => {
    const { gtm, clock, homeHolding, stored, untilStored, gateway } = await measured();
    clock.advance(60_000);
    gtm.turn("frankfurt", { query: { promptTokens: 900 } });
    assert.deepEqual([(await homeHolding())?.tokens, (await homeHolding())?.replica], [1_700, null]);
    await untilStored(3);
    assert.deepEqual((await stored())?.h[0]?.slice(0, 3), ["frankfurt", null, 1_700]);
    clock.advance(2_000);
    assert.ok(await gateway.measured(CONVERSATION, REPLICA, 2_000));
    await until(async () => (await homeHolding())?.replica === REPLICA, "it is measured");
  });
  it("grows by the next turn's estimate, when that is more", async () => {
    const { gtm, clock, homeHolding } = await measured();
    clock.advance(60_000);
    gtm.turn("frankfurt", { query: { promptTokens: 5_000 } });
    assert.equal((await homeHolding())?.tokens, 5_100);
  });
});

describe("an estimate that reaches the store after the gateway has measured the same turn", () => {
  it("leaves what was measured alone", async () => {
    const { gtm, gateway, store, clock, stored } = await withGateway();
    clock.advance(60_000);
    let isHeldUp = true;
    store.before = async (operation) => {
      if (operation === "compareAndSet" && isHeldUp) {
        isHeldUp = false;
        clock.advance(400);
        await gateway.measured(CONVERSATION, REPLICA, 1_700);
      }
    };
    gtm.turn("frankfurt", { query: { promptTokens: 4_000 } });
    await until(async () => (await gtm.counted("gtm_pins_waiting")) === 0, "it is settled");
    assert.deepEqual((await stored())?.h[0]?.slice(0, 3), ["frankfurt", REPLICA, 1_700]);
  });
});

describe("a conversation that a gateway refused", () => {
  it("is refused at once for every GTM that knows it, for ten seconds, and never longer", async () => {
    const { gtm, gateway, clock, startOne } = await withGateway();
    const other = await startOne();
    await other.find();
    await gateway.refuses(CONVERSATION);
    for (const one of [gtm, other]) {
      await until(async () => (await one.find())?.refusedBy[0] === "frankfurt", "it is heard");
      assert.equal(await one.counted("gtm_refusals_heard_total", { region: "frankfurt" }), 1);
    }
    clock.advance(9_000);
    assert.deepEqual((await gtm.find())?.refusedBy, ["frankfurt"]);
    clock.advance(1_001);
    assert.deepEqual((await gtm.find())?.refusedBy, []);
  });
  it("is refused, too, where the ledger knows nothing of it", async () => {
    const { store, clock, startOne } = await setUp();
    const gtm = await startOne();
    await createLedgerGateway(store, clock, regionId("frankfurt")).refuses(CONVERSATION);
    assert.equal(await gtm.find(), null);
    assert.deepEqual(gtm.refusedBy(CONVERSATION), ["frankfurt"]);
    assert.deepEqual(gtm.refusedBy(null), []);
    clock.advance(10_001);
    assert.deepEqual(gtm.refusedBy(CONVERSATION), []);
  });
  it("is refused by each of two that did so within the seconds", async () => {
    const { gtm, gateway, store, clock } = await withGateway();
    await gateway.refuses(CONVERSATION);
    await until(async () => (await gtm.find())?.refusedBy.length === 1, "the first is heard");
    await createLedgerGateway(store, clock, regionId("paris")).refuses(CONVERSATION);
    await until(async () => (await gtm.find())?.refusedBy.length === 2, "so is the second");
  });
});

describe("a known conversation whose look-up is later than the deadline", () => {
  it("is placed anew once, is counted, and is at home where it was from the next turn on", async () => {
    const { store, clock, startOne, stored, gtm } = await withGateway();
    clock.advance(30_000);
    const late = await startOne();
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    store.before = (operation, key) =>
      operation === "get" && key === conversationKey(CONVERSATION) ? held : undefined;
    assert.equal(await late.find(1), null);
    late.turn("paris", { conversation: null });
    answer();
    store.before = () => {};
    await until(async () => (await late.counted("gtm_conversations_found_late_total")) === 1, "it is counted");
    await until(async () => (await late.counted("gtm_pins_waiting")) === 0, "it is settled");
    for (const one of [late, gtm]) {
      await until(async () => (await one.find())?.holdings.length === 2, "both holdings are known");
      assert.equal((await one.find())?.holdings[0].region, "frankfurt");
    }
    assert.equal(homeIn(await stored()), "frankfurt");
    // The next turn goes by it: a decision would stay in Frankfurt, and the ledger follows the decision.
    clock.advance(30_000);
    const conversation = await late.find();
    assert.ok(conversation !== null);
    const regions = [aRegion("frankfurt"), aRegion("paris")];
    const { verdict } = anEntry({ regions, conversation }).decision;
    assert.equal(verdict.kind, "pinned");
  });
  it("moves where a decision that knew of it sends it", async () => {
    const { gtm, clock, stored, untilStored } = await withGateway();
    clock.advance(30_000);
    gtm.turn("paris");
    await untilStored(2);
    assert.equal(homeIn(await stored()), "paris");
  });
});

describe("a conversation that was released", () => {
  it("is not put back by a GTM that did not hear of it", async () => {
    const { gtm, store, clock, startOne } = await withGateway();
    const deaf = await startOne();
    await deaf.find();
    store.before = (operation) => {
      if (operation === "announce") throw new Error("the message is lost");
    };
    clock.advance(1_000);
    await assert.rejects(gtm.release(CONVERSATION, null));
    store.before = () => {};
    clock.advance(3_000);
    await until(async () => (await deaf.find()) === null, "it is forgotten");
    assert.equal(await store.get(conversationKey(CONVERSATION)), null);
    assert.equal(await deaf.counted("gtm_pins_offered_total", { because: "absent" }), 0);
  });
  it("begins anew with its next turn, and is given back to a store that lost that", async () => {
    const { gtm, store, clock, stored, startOne } = await withGateway();
    clock.advance(1_000);
    assert.equal(await gtm.release(CONVERSATION, null), "released");
    clock.advance(1_000);
    gtm.turn("paris");
    await until(async () => homeOrNone(await stored()) === "paris", "it begins anew");
    const other = await startOne();
    await other.find();
    await store.remove(conversationKey(CONVERSATION));
    clock.advance(3_000);
    await other.find();
    await until(async () => homeOrNone(await stored()) === "paris", "it is given back");
  });
});

const homeOrNone = (record: Parameters<typeof homeIn>[0]): string | null => (record === null ? null : homeIn(record));
