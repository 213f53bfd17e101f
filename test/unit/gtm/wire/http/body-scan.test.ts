import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBodyScan, type Scanned } from "#gtm/wire/http/body-scan.ts";
import { memberNames } from "#gtm/wire/http/member-paths.ts";

const NAMES = memberNames(["model", "user", "max_tokens", "metadata.session_id", "metadata.user_id"]);

const scanOf = (...chunks: readonly (string | Buffer)[]): Scanned => {
  const scan = createBodyScan(NAMES);
  for (const chunk of chunks) scan.write(Buffer.from(chunk as string));
  return scan.scanned();
};
const found = (...chunks: readonly string[]): Record<string, unknown> => Object.fromEntries(scanOf(...chunks).values);

describe("a chat request", () => {
  const chat = {
    messages: [{ role: "user", content: 'model: "x", {"model": "no"}', model: "inner" }],
    max_tokens: 256,
    metadata: { session_id: "s-1", nested: { user_id: "deeper" }, user_id: "u-1" },
    model: "llama-70b",
    user: null,
  };
  const expected = {
    max_tokens: 256,
    "metadata.session_id": "s-1",
    "metadata.user_id": "u-1",
    model: "llama-70b",
    user: null,
  };
  const text = JSON.stringify(chat);

  it("yields the members that were asked for, and none of those within messages", () => {
    assert.deepEqual(found(text), expected);
  });
  it("yields the same when every octet comes alone", () => {
    assert.deepEqual(found(...text), expected);
  });
  it("yields the same when it is printed over several lines", () => {
    assert.deepEqual(found(JSON.stringify(chat, null, 2)), expected);
  });
  it("yields a model that stands behind 200 KB of messages", () => {
    const long = JSON.stringify({ messages: [{ content: 'He said "no".\n'.repeat(20_000) }], model: "llama-70b" });
    assert.deepEqual(found(long), { model: "llama-70b" });
  });
});

describe("of members with one name", () => {
  const cases: readonly { when: string; text: string; expected: Record<string, unknown> }[] = [
    { when: "both are strings", text: '{"model":"a","model":"b"}', expected: { model: "b" } },
    { when: "the last is no scalar", text: '{"model":"a","model":["b"]}', expected: {} },
    {
      when: "the last is an object without the inner one",
      text: '{"metadata":{"user_id":"a"},"metadata":{"x":1}}',
      expected: {},
    },
    { when: "the last is a number", text: '{"metadata":{"user_id":"a"},"metadata":7}', expected: {} },
  ];
  for (const { when, text, expected } of cases) {
    it(`the last counts, as in JSON.parse, when ${when}`, () => assert.deepEqual(found(text), expected));
  }
});

describe("names and values", () => {
  const cases: readonly { what: string; text: string; expected: Record<string, unknown> }[] = [
    { what: "an escaped name", text: String.raw`{"mo\u0064el":"a"}`, expected: { model: "a" } },
    {
      what: "escapes in a value",
      text: String.raw`{"model":"a\"b\\\u00e9\n","user":"x"}`,
      expected: { model: 'a"b\\é\n', user: "x" },
    },
    { what: "letters beyond ASCII", text: '{"user":"Zoë 🦙"}', expected: { user: "Zoë 🦙" } },
    { what: "a value of another kind", text: '{"model":true,"user":-1.5e3}', expected: { model: true, user: -1_500 } },
    { what: "a name with a dot, which is no path", text: '{"metadata.user_id":"a"}', expected: {} },
    { what: "a byte order mark", text: '\ufeff{"model":"a"}', expected: { model: "a" } },
  ];
  for (const { what, text, expected } of cases) {
    it(`are read: ${what}`, () => {
      assert.deepEqual(found(text), expected);
      assert.deepEqual(
        Object.fromEntries(scanOf(...[...Buffer.from(text)].map((octet) => Buffer.from([octet]))).values),
        expected,
      );
    });
  }
  it("are given up where they are longer than any name, and that is told", () => {
    const scanned = scanOf(JSON.stringify({ user: "x".repeat(3_000), model: "a" }));
    assert.deepEqual([...scanned.tooLong], ["user"]);
    assert.deepEqual([...scanned.values], [["model", "a"]]);
  });
});

describe("what is no JSON object", () => {
  for (const text of ["", "[]", '["model","a"]', '"model"', "12", "null", "model=llama", '[{"model":"a"}]']) {
    it(`yields nothing: ${text || "nothing at all"}`, () => {
      const scanned = scanOf(text);
      assert.equal(scanned.isObject, false);
      assert.equal(scanned.values.size, 0);
    });
  }
});

describe("strings that are no text", () => {
  const image = Buffer.alloc(30_000, 0xa5).toString("base64");
  it("are weighed, so that an image is not counted as a prompt of its length", () => {
    const url = `data:image/png;base64,${image}`;
    const text = JSON.stringify({ messages: [{ content: [{ type: "image_url", image_url: { url } }] }] });
    assert.equal(scanOf(text).blobBytes, url.length);
    const pieces = [text.slice(0, 10_000), text.slice(10_000, 10_003), text.slice(10_003)];
    assert.equal(scanOf(...pieces).blobBytes, url.length);
  });
  it("are weighed without the head of a URL, too", () => {
    assert.equal(scanOf(JSON.stringify({ data: image })).blobBytes, image.length);
  });
  for (const [what, content] of [
    ["English", "The quick brown fox jumps over the lazy dog. ".repeat(500)],
    ["Chinese, without spaces", "北京的天气怎么样".repeat(1_000)],
    ["numbers with commas", "1,2,3,4,5,6,7,8,".repeat(1_000)],
  ] as const) {
    it(`do not include ${what}`, () => assert.equal(scanOf(JSON.stringify({ content })).blobBytes, 0));
  }
});
