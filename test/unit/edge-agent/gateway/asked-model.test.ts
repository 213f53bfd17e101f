import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { modelAsked } from "#edge-agent/gateway/asked-model.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const asked = (body: string, type: string | undefined = JSON_TYPE): string | null =>
  modelAsked(Buffer.from(body), type);

describe("the model that a body asks for", () => {
  const cases: readonly { body: string; expected: string | null }[] = [
    { body: '{"model":"a","messages":[]}', expected: "a" },
    { body: `{"messages":[{"content":"${"x".repeat(200_000)}"}],"model":"behind"}`, expected: "behind" },
    { body: '{"messages":[{"model":"inside"}]}', expected: null },
    { body: '{"metadata":{"model":"inside"},"model":"own"}', expected: "own" },
    { body: '{"model":"a\\u002fb"}', expected: "a/b" },
    { body: '{"model":7}', expected: null },
    { body: '{"model":""}', expected: null },
    { body: '{"model":"cut', expected: null },
    { body: "no json", expected: null },
  ];
  for (const { body, expected } of cases) {
    it(`is ${expected} in ${body.slice(0, 40)}`, () => assert.equal(asked(body), expected));
  }
  it("is not looked for in what is no JSON, or is not there", () => {
    assert.equal(asked('{"model":"a"}', "multipart/form-data; boundary=x"), null);
    assert.equal(modelAsked(null, JSON_TYPE), null);
    assert.equal(modelAsked(Buffer.from('{"model":"a"}'), undefined), "a");
  });
});
