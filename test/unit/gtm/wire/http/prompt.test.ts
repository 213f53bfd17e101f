import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { describe, it } from "node:test";
import type { Scalar } from "#gtm/wire/http/kept-scalars.ts";
import {
  isScannable,
  outputLimitTokensOf,
  outputTokensOf,
  promptTokensOf,
  type SeenBody,
} from "#gtm/wire/http/prompt.ts";

const seen = (bytes: number, values: Readonly<Record<string, Scalar>> = {}, blobBytes = 0): SeenBody => ({
  isRead: true,
  bytes,
  scanned: {
    isObject: true,
    values: new Map(Object.entries(values)),
    tooLong: new Set(),
    blobBytes,
    fingerprint: null,
  },
});

describe("the tokens of a prompt", () => {
  const cases: readonly {
    what: string;
    headers?: IncomingHttpHeaders;
    body: SeenBody;
    isOfConversation?: boolean;
    longest?: number;
    expected: number | null;
  }[] = [
    { what: "a JSON body of 4 001 octets", body: seen(4_001), expected: 1_001 },
    { what: "one whose sender counted them", headers: { "x-input-tokens": "77" }, body: seen(4_000), expected: 77 },
    { what: "one whose sender says nonsense", headers: { "x-input-tokens": "-7" }, body: seen(4_000), expected: 1_000 },
    { what: "one that is mostly an image", body: seen(104_000, {}, 100_000), expected: 1_000 },
    { what: "a body that is longer than any context", body: seen(4_000), longest: 900, expected: 900 },
    {
      what: "one that its sender counted as longer",
      headers: { "x-input-tokens": "901" },
      body: seen(0),
      longest: 900,
      expected: 901,
    },
    { what: "no body", body: { isRead: true, bytes: 0, scanned: null }, expected: 0 },
    {
      what: "no body, of a conversation whose context stays",
      body: { isRead: true, bytes: 0, scanned: null },
      isOfConversation: true,
      expected: null,
    },
    { what: "a body that was not looked at", body: { isRead: true, bytes: 9_000, scanned: null }, expected: null },
    { what: "a body to come", body: { isRead: false, bytes: 4_000, scanned: null }, expected: 1_000 },
    {
      what: "a compressed body to come",
      headers: { "content-encoding": "gzip" },
      body: { isRead: false, bytes: 4_000, scanned: null },
      expected: null,
    },
  ];
  for (const { what, headers = {}, body, isOfConversation = false, longest = null, expected } of cases) {
    it(`of ${what} are ${expected ?? "unknown"}`, () => {
      assert.equal(promptTokensOf(headers, body, isOfConversation, longest), expected);
    });
  }
  it("of what is no JSON object are unknown", () => {
    const scanned = { isObject: false, values: new Map(), tooLong: new Set<string>(), blobBytes: 0, fingerprint: null };
    assert.equal(promptTokensOf({}, { isRead: true, bytes: 400, scanned }, false, null), null);
  });
});

describe("the tokens of an answer", () => {
  const cases: readonly { what: string; body: SeenBody; expected: number | null }[] = [
    { what: "max_tokens", body: seen(10, { max_tokens: 256 }), expected: 256 },
    { what: "the newer name first", body: seen(10, { max_tokens: 1, max_completion_tokens: 2 }), expected: 2 },
    { what: "the responses API's name", body: seen(10, { max_output_tokens: 3 }), expected: 3 },
    { what: "nothing that is no count", body: seen(10, { max_tokens: -1, max_output_tokens: 1.5 }), expected: null },
    { what: "nothing that is text", body: seen(10, { max_tokens: "256" }), expected: null },
    { what: "nothing where nothing is said", body: seen(10), expected: null },
  ];
  for (const { what, body, expected } of cases) {
    it(`are bounded by ${what}`, () => assert.equal(outputLimitTokensOf(body), expected));
  }
  it("are said by a header only", () => {
    assert.equal(outputTokensOf({ "x-gtm-expected-output-tokens": "40" }), 40);
    assert.equal(outputTokensOf({}), null);
  });
});

describe("a body", () => {
  const cases: readonly { headers: IncomingHttpHeaders; expected: boolean }[] = [
    { headers: {}, expected: true },
    { headers: { "content-type": "application/json" }, expected: true },
    { headers: { "content-type": "application/json; charset=utf-8" }, expected: true },
    { headers: { "content-type": "application/vnd.api+json" }, expected: true },
    { headers: { "content-type": "application/x-www-form-urlencoded" }, expected: true },
    { headers: { "content-type": "text/plain;charset=UTF-8" }, expected: true },
    { headers: { "content-type": "multipart/form-data; boundary=json" }, expected: false },
    { headers: { "content-type": "application/octet-stream" }, expected: false },
    { headers: { "content-type": "audio/wav" }, expected: false },
    { headers: { "content-encoding": "identity" }, expected: true },
    { headers: { "content-encoding": "gzip" }, expected: false },
    { headers: { "content-type": "application/json", "content-encoding": "zstd" }, expected: false },
  ];
  for (const { headers, expected } of cases) {
    it(`is ${expected ? "" : "not "}scanned with ${JSON.stringify(headers)}`, () => {
      assert.equal(isScannable(headers), expected);
    });
  }
});
