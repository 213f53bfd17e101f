import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forwardedHeaders, rawHeader } from "#shared/hop-headers.ts";

const NOTHING: ReadonlySet<string> = new Set();

describe("headers that are forwarded", () => {
  const cases: readonly { when: string; raw: string[]; expected: string[] }[] = [
    { when: "none is of one connection", raw: ["Accept", "a", "X-B", "c"], expected: ["Accept", "a", "X-B", "c"] },
    {
      when: "some are of one connection",
      raw: [
        "Keep-Alive",
        "1",
        "TE",
        "trailers",
        "Transfer-Encoding",
        "chunked",
        "Upgrade",
        "h2c",
        "Expect",
        "100-continue",
        "A",
        "b",
      ],
      expected: ["A", "b"],
    },
    {
      when: "Connection lists others, in another case and twice",
      raw: [
        "X-Secret-Hop",
        "1",
        "Connection",
        "close, x-secret-hop",
        "connection",
        " X-Other ",
        "x-other",
        "2",
        "A",
        "b",
      ],
      expected: ["A", "b"],
    },
    {
      when: "a name is there twice",
      raw: ["Set-Cookie", "a", "Set-Cookie", "b"],
      expected: ["Set-Cookie", "a", "Set-Cookie", "b"],
    },
    { when: "there are pseudo-headers", raw: [":path", "/", ":authority", "h", "a", "b"], expected: ["a", "b"] },
    { when: "there is a Trailer", raw: ["Trailer", "X-Sum"], expected: ["Trailer", "X-Sum"] },
  ];
  for (const { when, raw, expected } of cases) {
    it(`are ${expected.length / 2} of ${raw.length / 2} when ${when}`, () => {
      assert.deepEqual(forwardedHeaders(raw, NOTHING), expected);
    });
  }

  it("lack what the caller leaves out", () => {
    assert.deepEqual(forwardedHeaders(["Host", "a", "B", "c"], new Set(["host"])), ["B", "c"]);
  });
});

describe("a header among raw ones", () => {
  it("is found in any letter case, the first of several, and is null where there is none", () => {
    assert.equal(rawHeader(["A", "1", "X-Y", "2", "x-y", "3"], "x-y"), "2");
    assert.equal(rawHeader(["X-Y", "2"], "x-z"), null);
  });
});
