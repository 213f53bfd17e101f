/** A conversation, there and back: packed small, dated by the epoch. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownerOf, packed, unpacked } from "#gtm/datalayer/conversation-record.ts";
import type { Clock } from "#shared/clock.ts";
import { ModelId, PoolName } from "#shared/ids.ts";
import { conversationKey, heldKey } from "#shared/keys.ts";
import { ConversationRecord } from "#shared/records.ts";
import { CONVERSATION, regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const OWNER = ownerOf("acme", PoolName.parse("chat"));
const conversation = (clock: Clock, agoMs: number) => ({
  id: CONVERSATION,
  model: ModelId.parse("meta-llama/Llama-3.3-70B-Instruct"),
  holdings: [
    { region: regionId("eu-central"), replica: null, tokens: 18_432, atMs: clock.monotonicMs() - agoMs },
    { region: regionId("ap-southeast"), replica: null, tokens: 9_000, atMs: clock.monotonicMs() - agoMs - 60_000 },
    { region: regionId("us-east"), replica: null, tokens: 4_000, atMs: clock.monotonicMs() - agoMs - 120_000 },
  ] as const,
  turns: 7,
  lastTurnAtMs: clock.monotonicMs() - agoMs,
  rev: 6,
  refusedBy: [],
});

describe("a conversation that another GTM reads", () => {
  const clock = createManualClock();
  const theirs: Clock = { monotonicMs: () => clock.monotonicMs() + 777_000, epochMs: clock.epochMs };
  const value = packed(conversation(clock, 30_000), OWNER, 7, clock);

  it("is the same, on the other's clock, to the second", () => {
    const found = unpacked(CONVERSATION, value, [], theirs);
    assert.deepEqual(found, {
      owner: OWNER,
      conversation: {
        ...conversation(theirs, 30_000),
        rev: 7,
        holdings: conversation(theirs, 30_000).holdings.map((one) => ({ ...one })),
      },
    });
  });
  it("takes under 400 bytes, key and index included", () => {
    const bytes =
      value.length +
      conversationKey(CONVERSATION).length +
      heldKey(regionId("eu-central")).length +
      CONVERSATION.length;
    assert.ok(bytes < 400, `${bytes} bytes`);
  });
  it("is a record that the schema knows", () => assert.ok(ConversationRecord.safeParse(JSON.parse(value)).success));
  it("is not from the future, whatever the writer's clock said", () => {
    const late: Clock = { monotonicMs: clock.monotonicMs, epochMs: () => clock.epochMs() - 3_600_000 };
    assert.equal(unpacked(CONVERSATION, value, [], late)?.conversation.lastTurnAtMs, clock.monotonicMs());
  });
  for (const broken of [
    "",
    "{",
    "null",
    "{}",
    value.replace('"v":1', '"v":2'),
    value.replace(/"h":\[.*\],"n"/, '"h":[],"n"'),
  ]) {
    it(`is nothing where the store holds ${broken.slice(0, 30) || "nothing"}`, () => {
      assert.equal(unpacked(CONVERSATION, broken, [], clock), null);
    });
  }
});
