import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isUnder, requestTarget } from "#shared/request-target.ts";

describe("a request target", () => {
  const cases: readonly { url: string; host: string; expected: ReturnType<typeof requestTarget> }[] = [
    {
      url: "/v1/chat?a=b",
      host: "Front.LLM.example.org.:8080",
      expected: { host: "front.llm.example.org", pathAndQuery: "/v1/chat?a=b", path: "/v1/chat", query: "a=b" },
    },
    {
      url: "//evil.example/v1?x=//y#z",
      host: "[2001:DB8::1]:443",
      expected: {
        host: "[2001:db8::1]",
        pathAndQuery: "//evil.example/v1?x=//y#z",
        path: "//evil.example/v1",
        query: "x=//y#z",
      },
    },
    {
      url: "HTTP://chat.front.example:80/v1/a?b",
      host: "ignored.example",
      expected: { host: "chat.front.example", pathAndQuery: "/v1/a?b", path: "/v1/a", query: "b" },
    },
    {
      url: "https://chat.front.example?b",
      host: "ignored.example",
      expected: { host: "chat.front.example", pathAndQuery: "/?b", path: "/", query: "b" },
    },
    {
      url: "/v1/%2e%2E/%0d%0aX:1/",
      host: "a",
      expected: { host: "a", pathAndQuery: "/v1/%2e%2E/%0d%0aX:1/", path: "/v1/%2e%2E/%0d%0aX:1/", query: "" },
    },
  ];
  for (const { url, host, expected } of cases) {
    it(`keeps path and query octet by octet: ${url}`, () => assert.deepEqual(requestTarget(url, host), expected));
  }
  it("has no host where HTTP/1.0 sends none", () => {
    assert.equal(requestTarget("/v1", undefined)?.host, null);
  });
  for (const [url, host] of [
    ["", "a"],
    ["*", "a"],
    ["v1/chat", "a"],
    ["ftp://a/v1", "a"],
    ["http:///v1", "a"],
    ["http://user@a/v1", "a"],
    ["http://a:port/v1", "a"],
    ["/v1/a b", "a"],
    ["/v1/\r\nX: y", "a"],
    ["/v1/\0", "a"],
    ["/v1/\xe9", "a"],
    ["/v1", ""],
    ["/v1", "a b"],
    ["/v1", "a/b"],
    ["/v1", "user@a"],
    ["/v1", "a:80:80"],
    ["/v1", "[::1"],
  ] as const) {
    it(`is malformed: ${JSON.stringify(url)} with Host ${JSON.stringify(host)}`, () => {
      assert.equal(requestTarget(url, host), null);
    });
  }
});

describe("a path", () => {
  const cases: readonly { path: string; prefix: string; expected: boolean }[] = [
    { path: "/v1", prefix: "/v1", expected: true },
    { path: "/v1/", prefix: "/v1", expected: true },
    { path: "/v1/chat/completions", prefix: "/v1", expected: true },
    { path: "/v1beta/models", prefix: "/v1", expected: false },
    { path: "/V1/models", prefix: "/v1", expected: false },
    { path: "/v", prefix: "/v1", expected: false },
    { path: "//v1/models", prefix: "/v1", expected: false },
    { path: "//evil.example/v1", prefix: "/", expected: true },
    { path: "/v1//evil.example", prefix: "/v1", expected: true },
    { path: "/v1/a/../models", prefix: "/v1", expected: true },
    { path: "/v1/../admin", prefix: "/v1", expected: false },
    { path: "/v1/..", prefix: "/v1", expected: false },
    { path: "/v1/a/%2E%2e/%2e./admin", prefix: "/v1", expected: false },
    { path: "/v1/..\\admin", prefix: "/v1", expected: false },
    { path: "/v1\\..\\admin", prefix: "/v1", expected: false },
    { path: "/v1/...", prefix: "/v1", expected: true },
    { path: "/v1/..a/models", prefix: "/v1", expected: true },
    { path: "/admin/../v1/models", prefix: "/v1", expected: false },
    { path: "/api/v1/x", prefix: "/api/v1/", expected: true },
  ];
  for (const { path, prefix, expected } of cases) {
    it(`${path} is ${expected ? "" : "not "}under ${prefix}`, () => assert.equal(isUnder(path, prefix), expected));
  }
});
