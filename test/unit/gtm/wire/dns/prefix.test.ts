import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  commonBits,
  ipv4Value,
  networkKey,
  networkOf,
  parsePrefix,
  prefixText,
  sourcePrefix,
} from "#gtm/wire/dns/prefix.ts";

describe("the network of a peer's address", () => {
  const CASES = [
    { address: "192.0.2.77", network: "192.0.2.0/24" },
    { address: "255.255.255.255", network: "255.255.255.0/24" },
    { address: "::ffff:192.0.2.77", network: "192.0.2.0/24" },
    { address: "2001:db8:5:6::1", network: "2001:db8:5::/48" },
    { address: "2001:db8::1", network: "2001:db8:0::/48" },
    { address: "::1", network: "0:0:0::/48" },
    { address: "fe80::1%eth0", network: "fe80:0:0::/48" },
    { address: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", network: "2001:db8:ffff::/48" },
    { address: "64:ff9b::192.0.2.1", network: "64:ff9b:0::/48" },
  ];
  for (const { address, network } of CASES) {
    it(`of ${address} is ${network}`, () => assert.equal(prefixText(sourcePrefix(address)), network));
  }
  it("is not read from what is no IPv4 address", () => {
    for (const text of ["", "1.2.3", "1.2.3.4.5", "1.2.3.x", "::1"]) assert.ok(Number.isNaN(ipv4Value(text)), text);
  });
});

describe("a prefix", () => {
  it("is cut to 24 or 48 bits, and to its own length", () => {
    assert.deepEqual(parsePrefix("192.0.2.99/32"), { family: 4, value: 0xc0_00_02, bits: 24 });
    assert.equal(prefixText(parsePrefix("10.255.0.0/9")), "10.128.0.0/9");
    assert.equal(prefixText(parsePrefix("fd12:3456:789a::/7")), "fc00:0:0::/7");
  });
  it("has a key of its own among all families and lengths, and can be told from it", () => {
    const networks = [
      ...Array.from({ length: 25 }, (_, bits) => parsePrefix(`0.0.0.0/${bits}`)),
      ...Array.from({ length: 24 }, (_, bits) => parsePrefix(`255.255.255.0/${bits + 1}`)),
      ...Array.from({ length: 49 }, (_, bits) => parsePrefix(`::/${bits}`)),
      ...Array.from({ length: 48 }, (_, bits) => parsePrefix(`ffff:ffff:ffff::/${bits + 1}`)),
    ];
    const keys = networks.map(({ family, value, bits }) => networkKey(family, value, bits));
    assert.equal(new Set(keys).size, networks.length);
    assert.deepEqual(keys.map(networkOf), networks);
  });
  it("shares its leading bits with another", () => {
    const shared = (a: string, b: string) => commonBits(parsePrefix(a), parsePrefix(b));
    assert.deepEqual(
      [shared("10.0.0.0/24", "10.1.0.0/16"), shared("10.1.2.0/24", "10.1.0.0/16"), shared("0.0.0.0/1", "128.0.0.0/1")],
      [15, 16, 0],
    );
    assert.equal(shared("2001:db8:1::/48", "2001:db8:0::/48"), 47);
  });
  it("is not made of what is no network", () => {
    for (const text of ["", "10.0.0.0", "10.0.0.0/", "10.0.0.0/x"])
      assert.throws(() => parsePrefix(text), /no network/);
  });
});
