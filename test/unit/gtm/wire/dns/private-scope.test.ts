import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parsePrefix } from "#gtm/wire/dns/prefix.ts";
import { createPrivateScope } from "#gtm/wire/dns/private-scope.ts";

const scopeOf = (subnet: string, own: readonly string[] = []): number | null =>
  createPrivateScope(own)(parsePrefix(subnet));

describe("an answer to a private client subnet (RFC 7871 §10)", () => {
  const BLOCKS = [
    { subnet: "10.1.2.0/24", scope: 8 },
    { subnet: "172.31.255.0/24", scope: 12 },
    { subnet: "192.168.7.0/24", scope: 16 },
    { subnet: "100.127.0.0/16", scope: 10 },
    { subnet: "127.0.0.0/24", scope: 8 },
    { subnet: "fd12:3456:789a::/48", scope: 7 },
    { subnet: "fe80::/48", scope: 10 },
  ];
  for (const { subnet, scope } of BLOCKS) {
    it(`to ${subnet} holds for the whole block: /${scope}`, () => assert.equal(scopeOf(subnet), scope));
  }
  it("is none where the subnet is public, or wider than the block", () => {
    for (const subnet of ["192.0.2.0/24", "172.32.0.0/16", "11.0.0.0/8", "8.0.0.0/6", "2001:db8::/48"]) {
      assert.equal(scopeOf(subnet), null, subnet);
    }
  });
  it("holds for as much of the block as has nothing that the operator located himself", () => {
    assert.equal(scopeOf("10.200.0.0/24", ["10.1.0.0/16"]), 9);
    assert.equal(scopeOf("10.0.0.0/24", ["10.1.0.0/16"]), 16);
    assert.equal(scopeOf("10.200.0.0/24", ["192.168.0.0/24", "fd00::/48"]), 8);
    assert.equal(scopeOf("fd00:0:1::/48", ["fd00:0:2::/48"]), 47);
  });
});
