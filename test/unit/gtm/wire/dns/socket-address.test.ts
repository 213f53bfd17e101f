import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressTextOf, portOf, SOCKADDR_OCTETS, writeSocketAddress } from "#gtm/wire/dns/socket-address.ts";

const noZone = (name: string): number => {
  assert.equal(name, "");
  return 0;
};

const written = (address: string, port: number, scopeOf: (name: string) => number = noZone) => {
  const octets = Buffer.alloc(SOCKADDR_OCTETS, 0xaa);
  const length = writeSocketAddress(octets, { address, port }, scopeOf);
  return { length, hex: octets.subarray(0, length).toString("hex"), octets };
};

describe("a socket's address in octets", () => {
  it("is struct sockaddr_in for IPv4", () => {
    const { length, hex } = written("192.0.2.10", 53);
    assert.equal(length, 16);
    assert.equal(hex, "02000035c000020a0000000000000000");
  });

  it("is struct sockaddr_in6 for IPv6, with the zone's index in the machine's order", () => {
    const { length, hex } = written("fe80::1%lan", 5_353, (name) => (name === "lan" ? 7 : 0));
    assert.equal(length, 28);
    assert.equal(hex, "0a0014e900000000fe80000000000000000000000000000107000000");
  });

  it("keeps an IPv4 address that is written as IPv6 one of IPv6", () => {
    assert.equal(written("::ffff:192.0.2.1", 1).hex, "0a0000010000000000000000000000000000ffffc000020100000000");
  });

  it("is nothing for what is no address", () => {
    assert.equal(written("chat.example.com", 53).length, 0);
  });

  it("is read as it was written", () => {
    for (const [address, text] of [
      ["203.0.113.255", "203.0.113.255"],
      ["2001:db8::8:0", "2001:db8:0:0:0:0:8:0"],
    ] as const) {
      const { octets } = written(address, 65_535);
      assert.equal(portOf(octets, 0), 65_535);
      assert.equal(addressTextOf(octets, 0), text);
    }
    assert.equal(addressTextOf(Buffer.alloc(SOCKADDR_OCTETS), 0), "");
  });
});
