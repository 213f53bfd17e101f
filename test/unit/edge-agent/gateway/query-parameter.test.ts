import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { takeParameter } from "#edge-agent/gateway/query-parameter.ts";

describe("a parameter of ours in a query", () => {
  const cases: readonly { from: string; rest: string; value: string | null }[] = [
    { from: "/v1/x", rest: "/v1/x", value: null },
    { from: "/v1/x?a=1", rest: "/v1/x?a=1", value: null },
    { from: "/v1/x?t=9", rest: "/v1/x", value: "9" },
    { from: "/v1/x?a=%2f&&b&t=9", rest: "/v1/x?a=%2f&&b", value: "9" },
    { from: "/v1/x?t=9&a=1", rest: "/v1/x?a=1", value: "9" },
    { from: "/v1/x?t=9&a=1&t=8", rest: "/v1/x?a=1", value: "9" },
    { from: "/v1/x?at=9", rest: "/v1/x?at=9", value: null },
    { from: "/v1/x?t=", rest: "/v1/x", value: "" },
    { from: "/v1/t=9?a", rest: "/v1/t=9?a", value: null },
    { from: "/v1/x?", rest: "/v1/x?", value: null },
  ];
  for (const { from, rest, value } of cases) {
    it(`of ${from} is ${value}, and ${rest} is left`, () => {
      assert.deepEqual(takeParameter(from, "t"), { pathAndQuery: rest, value });
    });
  }
});
