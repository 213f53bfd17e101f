import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { weightsOf } from "#edge-agent/engines/model-cards.ts";
import { enginePayload } from "#test/support/vllm-page.ts";

describe("a model list", () => {
  it("groups names by root and adapters by parent", () => {
    assert.deepEqual(weightsOf(JSON.parse(enginePayload("vllm-v1-models.json"))), [
      {
        names: ["meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"],
        adapters: ["sql-lora", "support-lora"],
        contextLimitTokens: 131_072,
        ownedBy: "vllm",
      },
    ]);
  });
  it("of two roots is two sets of weights, each with its own adapters", () => {
    const list = {
      data: [
        { id: "a", root: "/a", parent: null, max_model_len: 10 },
        { id: "b", root: "/b", parent: null },
        { id: "on-b", root: "/x", parent: "b" },
        { id: "on-nothing", root: "/x", parent: "c" },
      ],
    };
    assert.deepEqual(
      weightsOf(list)?.map(({ names, adapters, contextLimitTokens }) => [names, adapters, contextLimitTokens]),
      [
        [["a"], [], 10],
        [["b"], ["on-b"], null],
      ],
    );
  });
  it("without roots has a set of weights for each name", () => {
    assert.deepEqual(
      weightsOf({ data: [{ id: "a" }, { id: "b" }] })?.map(({ names }) => names),
      [["a"], ["b"]],
    );
  });
  it("keeps what it can of broken cards", () => {
    const list = { data: [null, 3, {}, { id: "" }, { id: 7 }, { id: "a", max_model_len: "long", parent: "" }] };
    assert.deepEqual(
      weightsOf(list)?.map(({ names, contextLimitTokens }) => [names, contextLimitTokens]),
      [[["a"], null]],
    );
  });
  for (const list of [null, undefined, 1, "x", [], {}, { data: null }, { data: "x" }]) {
    it(`is none: ${JSON.stringify(list)}`, () => assert.equal(weightsOf(list), null));
  }
});
