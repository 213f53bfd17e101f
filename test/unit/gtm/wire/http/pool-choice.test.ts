import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPoolChooser } from "#gtm/wire/http/pool-choice.ts";
import { ModelId, PoolName } from "#shared/ids.ts";
import { aPool } from "#test/support/builders.ts";

const [large, small, coder] = ["org/large", "org/small", "org/coder"].map((id) => ModelId.parse(id)) as [
  ModelId,
  ModelId,
  ModelId,
];
const model = (id: ModelId, ...aliases: string[]) => ({ id, aliases, weightBytes: null, coldStartMs: null });
const chat = { pool: aPool([], { name: PoolName.parse("chat"), models: [large, small] }), prefix: "/v1" };
const code = { pool: aPool([], { name: PoolName.parse("code"), models: [coder, small] }), prefix: "/v1" };
const choose = createPoolChooser(
  [chat.pool, code.pool],
  [model(small, "fast", "best"), model(large, "best", "org/small"), model(coder, "coder")],
);

describe("the pool for a request", () => {
  const cases: readonly { when: string; asked: Parameters<typeof choose>; expected: ReturnType<typeof choose> }[] = [
    {
      when: "no model is named and the first is the default",
      asked: [[chat, code], true, null],
      expected: { kind: "chosen", at: chat, model: null },
    },
    {
      when: "no model is named and there is no default",
      asked: [[chat, code], false, null],
      expected: { kind: "no-model" },
    },
    {
      when: "the default has the model",
      asked: [[code, chat], true, "org/small"],
      expected: { kind: "chosen", at: code, model: small },
    },
    {
      when: "only another pool has the model",
      asked: [[chat, code], true, "coder"],
      expected: { kind: "chosen", at: code, model: coder },
    },
    {
      when: "the model is named by an alias",
      asked: [[chat, code], true, "fast"],
      expected: { kind: "chosen", at: chat, model: small },
    },
    {
      when: "two models of the pool share the alias: the first that the pool lists",
      asked: [[chat], true, "best"],
      expected: { kind: "chosen", at: chat, model: large },
    },
    {
      when: "an alias is another model's id: the id wins",
      asked: [[chat], true, "org/small"],
      expected: { kind: "chosen", at: chat, model: small },
    },
    {
      when: "no pool of this host has the model",
      asked: [[chat], true, "coder"],
      expected: { kind: "unknown-model", model: "coder" },
    },
    {
      when: "the name is one of every object's",
      asked: [[chat], true, "__proto__"],
      expected: { kind: "unknown-model", model: "__proto__" },
    },
  ];
  for (const { when, asked, expected } of cases) {
    it(`is chosen when ${when}`, () => assert.deepEqual(choose(...asked), expected));
  }
});
