import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOST_SIZES, sweepHeld, sweepSizes } from "#gtm/datalayer/conversation-sweep.ts";
import { sizeScore } from "#shared/conversation-index.ts";
import { ConversationId } from "#shared/ids.ts";
import { conversationKey, heldKey, KEYS, sizesKey } from "#shared/keys.ts";
import { CONVERSATION, regionId } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";
import { setUp } from "./conversation-gtm.ts";

const FRANKFURT = regionId("frankfurt");
const all = [0, Number.MAX_SAFE_INTEGER] as const;
const idOf = (at: number): ConversationId => ConversationId.parse(String(at).padStart(13, "0"));

describe("the list of a region's conversations by size", () => {
  it("loses who is known no more, once its turn comes", async () => {
    const { store, clock, startOne, untilStored } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    await until(async () => (await store.indexRange(sizesKey(FRANKFURT), ...all)).length === 1);
    for (let at = 0; at < 1_200; at++) await store.indexAdd(sizesKey(FRANKFURT), idOf(at), sizeScore(idOf(at), at));
    const next = await sweepSizes({ store, clock }, FRANKFURT, 0);
    assert.ok(next > 0);
    assert.equal(await sweepSizes({ store, clock }, FRANKFURT, next), 0);
    const left = await store.indexRange(sizesKey(FRANKFURT), ...all);
    assert.deepEqual(
      left.map(({ member }) => member),
      [CONVERSATION],
    );
  });
  it("keeps the largest of very many", async () => {
    const { store, clock } = await setUp();
    for (let at = 0; at < MOST_SIZES + 5; at++) await store.indexAdd(sizesKey(FRANKFURT), `x${at}`, at);
    await sweepSizes({ store, clock }, FRANKFURT, Number.MAX_SAFE_INTEGER);
    const [least] = await store.indexRange(sizesKey(FRANKFURT), ...all, 1);
    assert.equal(least?.score, 5);
  });
});

describe("the list of a region's conversations by last turn", () => {
  it("loses who had none for an hour, and so does the one by size", async () => {
    const { store, clock, startOne, untilStored } = await setUp();
    const gtm = await startOne();
    gtm.turn("frankfurt");
    await untilStored(1);
    await until(async () => (await store.indexRange(sizesKey(FRANKFURT), ...all)).length === 1);
    clock.advance(KEYS.conversation.ttlMs + 1_000);
    assert.equal(await store.get(conversationKey(CONVERSATION)), null);
    await sweepHeld({ store, clock }, FRANKFURT);
    assert.deepEqual(await store.indexRange(heldKey(FRANKFURT), ...all), []);
    assert.deepEqual(await store.indexRange(sizesKey(FRANKFURT), ...all), []);
  });
});
