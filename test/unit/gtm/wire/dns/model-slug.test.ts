import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { modelSlugs } from "#gtm/wire/dns/model-slug.ts";
import { ModelId } from "#shared/ids.ts";

const slugsOf = (...names: readonly string[]): readonly string[] => {
  const models = names.map((name) => ModelId.parse(name));
  const slugs = modelSlugs(models);
  return models.map((model) => slugs.get(model) ?? "");
};

describe("a model's name as a label", () => {
  it("is lower case, with hyphens for everything else", () =>
    assert.deepEqual(slugsOf("meta-llama/Llama-3.3-70B-Instruct", "gpt 4:o"), [
      "meta-llama-llama-3-3-70b-instruct",
      "gpt-4-o",
    ]));
  it("neither begins nor ends with a hyphen", () => assert.deepEqual(slugsOf("/models/phi-4/"), ["models-phi-4"]));
  it("has a hash behind it where two would be the same, whatever their order", () => {
    const [dot, dash] = slugsOf("a.b", "a-b");
    assert.match(dot ?? "", /^a-b-[0-9a-f]{8}$/);
    assert.notEqual(dot, dash);
    assert.deepEqual(slugsOf("a-b", "a.b"), [dash, dot]);
  });
  it("is cut to 63 characters with a hash behind it", () => {
    const [slug = ""] = slugsOf(`org/${"x".repeat(100)}`);
    assert.match(slug, /^org-x+-[0-9a-f]{8}$/);
    assert.equal(slug.length, 63);
  });
  it("is a hash alone where no character is left", () => assert.match(slugsOf("模型")[0] ?? "", /^[0-9a-f]{8}$/));
});
