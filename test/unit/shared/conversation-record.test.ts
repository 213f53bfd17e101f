/** A conversation, there and back: packed small, dated by the epoch. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ownerOf, packed, unpacked } from "#shared/conversation-record.ts";
import { ModelId, PoolName, RegionId, ReplicaId } from "#shared/ids.ts";
import { ConversationRecord, packedConversation } from "#shared/packed-conversation.ts";
import { CONVERSATION, regionId } from "#test/support/builders.ts";

const OWNER = ownerOf("acme", PoolName.parse("chat"));
const conversation = (nowMs: number, agoMs: number) => ({
  id: CONVERSATION,
  model: ModelId.parse("meta-llama/Llama-3.3-70B-Instruct"),
  holdings: [
    { region: regionId("eu-central"), replica: null, tokens: 18_432, atMs: nowMs - agoMs },
    { region: regionId("ap-southeast"), replica: null, tokens: 9_000, atMs: nowMs - agoMs - 60_000 },
    { region: regionId("us-east"), replica: null, tokens: 4_000, atMs: nowMs - agoMs - 120_000 },
  ] as const,
  turns: 7,
  lastTurnAtMs: nowMs - agoMs,
  rev: 6,
  refusedBy: [],
});

const WRITTEN_AT_MS = 1_000_000;
const TTL_MS = 3_600_000;

describe("a conversation that another GTM reads a minute after it was written", () => {
  const value = packed(conversation(WRITTEN_AT_MS, 30_000), OWNER, 7, WRITTEN_AT_MS);
  const stored = { value, remainingMs: TTL_MS - 60_000 };

  it("is the same to the second, whatever either's clock says: by the store's it is a minute older", () => {
    const theirNowMs = 777;
    const found = unpacked(CONVERSATION, stored, [], theirNowMs);
    assert.deepEqual(found, {
      owner: OWNER,
      conversation: { ...conversation(theirNowMs - 60_000, 30_000), rev: 7 },
    });
  });
  it("counts from when it is read where its time to live was taken away", () => {
    const found = unpacked(CONVERSATION, { value, remainingMs: null }, [], 500_000);
    assert.equal(found?.conversation.lastTurnAtMs, 470_000);
  });
  it("takes less than 160 bytes of value: what that is in Redis's memory is measured by a benchmark", () => {
    assert.ok(value.length < 160, `${value.length} bytes: ${value}`);
  });
  it("is a record that the schema knows", () => assert.ok(ConversationRecord.safeParse(JSON.parse(value)).success));
  for (const broken of [
    "",
    "{",
    "null",
    "{}",
    value.replace('"v":1', '"v":2'),
    value.replace(/"h":\[.*\]/, '"h":[]'),
    value.replace('"rev":7', '"rev":0'),
    value.replace("eu-central ", "EU "),
    value.replace(/"f":"\w+ /, '"f":"'),
    value.replace(/"f":"\w+/, '"f":"zzzzz'),
    value.replace(/"f":"\w+/, '"f":"-1'),
    value.replace(/"m":"[^"]+"/, '"m":""'),
    value.replace(/"m":"[^"]+"/, `"m":"${"x".repeat(257)}"`),
    value.replace('"rev":7', '"rev":7.5'),
    value.replace(/"h":\[(.*)\]/, '"h":[$1,$1,$1,$1]'),
    value.replace(/"h":\[.*\]/, '"h":[7]'),
    value.replace("{", '{"o":2,'),
    "[]",
    "7",
  ]) {
    it(`is nothing where the store holds ${broken.slice(0, 30) || "nothing"}`, () => {
      assert.equal(unpacked(CONVERSATION, { value: broken, remainingMs: 1 }, [], 1), null);
    });
  }
});

describe("a packed conversation", () => {
  it("comes back as it was, whatever its names hold", () => {
    const holding = fc.record({
      region: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/),
      replica: fc.option(
        fc.string({ minLength: 1, maxLength: 320, unit: "grapheme" }).filter((one) => one.length < 320),
      ),
      tokens: fc.nat(),
      age: fc.nat(3_600),
    });
    fc.assert(
      fc.property(
        fc.record({ rev: fc.integer({ min: 1 }), n: fc.nat(), l: fc.nat(4_000), t: fc.nat(0xffff), p: fc.nat(0xffff) }),
        fc.string({ minLength: 1, maxLength: 256 }),
        fc.array(holding, { maxLength: 3 }),
        (facts, model, holdings) => {
          const record: ConversationRecord = {
            ...{ ...facts, v: 1, m: ModelId.parse(model) },
            h: holdings.map(({ region, replica, tokens, age }) => [
              RegionId.parse(region),
              replica === null ? null : ReplicaId.parse(replica),
              ...([tokens, facts.l + age] as const),
            ]),
          };
          assert.deepEqual(ConversationRecord.parse(JSON.parse(packedConversation(record))), record);
        },
      ),
    );
  });
});
