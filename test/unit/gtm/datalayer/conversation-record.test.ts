/** A conversation, there and back: packed small, dated by the epoch. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ownerOf, packed, unpacked } from "#gtm/datalayer/conversation-record.ts";
import type { Clock } from "#shared/clock.ts";
import { ModelId, PoolName, RegionId, ReplicaId } from "#shared/ids.ts";
import { ConversationRecord, packedConversation } from "#shared/records.ts";
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
  it("takes less than 160 bytes of value: what that is in Redis's memory is measured by a benchmark", () => {
    assert.ok(value.length < 160, `${value.length} bytes: ${value}`);
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
    value.replace(/"h":\[.*\]/, '"h":[]'),
    value.replace('"rev":7', '"rev":0'),
    value.replace("eu-central ", "EU "),
    value.replace(/"f":"\w+ /, '"f":"'),
    value.replace(/"f":"\w+/, '"f":"zzzzz'),
    value.replace(/"f":"\w+/, '"f":"-1'),
  ]) {
    it(`is nothing where the store holds ${broken.slice(0, 30) || "nothing"}`, () => {
      assert.equal(unpacked(CONVERSATION, broken, [], clock), null);
    });
  }
});

describe("a packed conversation", () => {
  it("comes back as it was, whatever its names hold", () => {
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
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
        fc.record({ rev: fc.integer({ min: 1 }), n: fc.nat(), l: seconds, t: fc.nat(0xffff), p: fc.nat(0xffff) }),
        fc.string({ minLength: 1, maxLength: 256 }),
        fc.array(holding, { maxLength: 3 }),
        (facts, model, holdings) => {
          const record: ConversationRecord = {
            ...{ ...facts, v: 1, m: ModelId.parse(model) },
            h: holdings.map(({ region, replica, tokens, age }) => [
              RegionId.parse(region),
              replica === null ? null : ReplicaId.parse(replica),
              ...([tokens, Math.max(0, facts.l - age)] as const),
            ]),
          };
          assert.deepEqual(ConversationRecord.parse(JSON.parse(packedConversation(record))), record);
        },
      ),
    );
  });
});
