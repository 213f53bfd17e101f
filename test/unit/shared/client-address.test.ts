import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createProxyTrust } from "#shared/client-address.ts";

const { subnetOf, isTrusted } = createProxyTrust(["10.0.0.0/8", "192.0.2.1", "2001:db8:ffff::/48"]);

describe("the other end of a connection", () => {
  const cases: readonly { address: string; subnet: string; trusted: boolean }[] = [
    { address: "203.0.113.77", subnet: "203.0.113.0/24", trusted: false },
    { address: "::ffff:203.0.113.77", subnet: "203.0.113.0/24", trusted: false },
    { address: "2001:db8:10:20::1", subnet: "2001:db8:10::/48", trusted: false },
    { address: "fe80::1%eth0", subnet: "fe80::/48", trusted: false },
    { address: "10.1.2.3", subnet: "10.1.2.0/24", trusted: true },
    { address: "::ffff:10.1.2.3", subnet: "10.1.2.0/24", trusted: true },
    { address: "192.0.2.1", subnet: "192.0.2.0/24", trusted: true },
    { address: "192.0.2.2", subnet: "192.0.2.0/24", trusted: false },
    { address: "2001:db8:ffff:1::1", subnet: "2001:db8:ffff::/48", trusted: true },
    { address: "", subnet: "0.0.0.0/24", trusted: false },
  ];
  for (const { address, subnet, trusted } of cases) {
    it(`${address || "that is gone"} is of ${subnet} and ${trusted ? "" : "not "}a trusted proxy`, () => {
      assert.equal(subnetOf(address, null), subnet);
      assert.equal(isTrusted(address), trusted);
    });
  }
});

describe("X-Forwarded-For behind the trusted proxy 10.0.0.1", () => {
  const cases: readonly { when: string; header: string; subnet: string }[] = [
    { when: "names one client", header: "203.0.113.9", subnet: "203.0.113.0/24" },
    { when: "names a port", header: "203.0.113.9:51000", subnet: "203.0.113.0/24" },
    { when: "names an IPv6 client", header: "2001:db8:1:2::3", subnet: "2001:db8:1::/48" },
    { when: "names an IPv6 client with a port", header: "[2001:db8:1:2::3]:443", subnet: "2001:db8:1::/48" },
    { when: "names a mapped client", header: "::ffff:203.0.113.9", subnet: "203.0.113.0/24" },
    { when: "passes another trusted proxy", header: "203.0.113.9, 10.9.9.9", subnet: "203.0.113.0/24" },
    { when: "was begun by the client", header: "198.51.100.1, 203.0.113.9, 10.9.9.9", subnet: "203.0.113.0/24" },
    { when: "holds trusted proxies only", header: "10.2.2.2, 10.9.9.9", subnet: "10.2.2.0/24" },
    { when: "ends in something else", header: "203.0.113.9, unknown", subnet: "10.0.0.0/24" },
    { when: "holds something else before a proxy", header: "203.0.113.9, <script>, 10.9.9.9", subnet: "10.9.9.0/24" },
    { when: "holds an address in a form that people never mean", header: "0x7f.1", subnet: "10.0.0.0/24" },
    { when: "has empty entries", header: "203.0.113.9,,10.9.9.9", subnet: "10.9.9.0/24" },
  ];
  for (const { when, header, subnet } of cases) {
    it(`gives ${subnet} when it ${when}`, () => assert.equal(subnetOf("10.0.0.1", header), subnet));
  }
});

describe("X-Forwarded-For from a stranger", () => {
  it("is not heeded", () => assert.equal(subnetOf("198.51.100.7", "203.0.113.9"), "198.51.100.0/24"));
});

describe("a trusted proxy that is no network", () => {
  it("is a bug, since the configuration refuses it", () => {
    assert.throws(() => createProxyTrust(["example.org"]));
    assert.throws(() => createProxyTrust(["10.0.0.0/40"]));
  });
});
