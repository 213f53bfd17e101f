/** Servers as people name them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalAddress, parseServer, serverText } from "#gtm/dns-check/server-address.ts";

describe("a server's address", () => {
  const cases: readonly (readonly [text: string, shown: string | null])[] = [
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:53", "192.0.2.1"],
    ["192.0.2.1:5300", "192.0.2.1:5300"],
    ["2001:db8::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:5300", "[2001:db8::1]:5300"],
    ["192.0.2.256", null],
    ["[192.0.2.1]:53", null],
    ["192.0.2.1:0", null],
    ["192.0.2.1:65536", null],
    ["ns1.example.com", null],
    ["", null],
  ];
  for (const [text, shown] of cases) {
    it(`"${text}" is ${shown ?? "none"}`, () => {
      const server = parseServer(text);
      assert.equal(server === null ? null : serverText(server), shown);
    });
  }
  it("has one spelling", () => {
    assert.equal(canonicalAddress("2001:DB8:0:0::53"), "2001:db8::53");
    assert.equal(canonicalAddress("192.0.2.1"), "192.0.2.1");
  });
});
