/** Reading and cutting networks. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isRouted, parseSubnet, subnetText, truncated } from "#gtm/datalayer/subnet.ts";

describe("the text of a network", () => {
  const cases: readonly { text: string; is: string | null }[] = [
    { text: "192.0.2.0/24", is: "192.0.2.0/24" },
    { text: "192.0.2.77/24", is: "192.0.2.0/24" },
    { text: "192.0.2.77", is: "192.0.2.77/32" },
    { text: "0.0.0.0/0", is: "0.0.0.0/0" },
    { text: "2001:db8:1:2::/48", is: "2001:db8:1::/48" },
    { text: "2001:db8::1", is: "2001:db8::/48" },
    { text: "2001:db8::/32", is: "2001:db8::/32" },
    { text: "::/0", is: "::/0" },
    { text: "::ffff:192.0.2.0/90", is: "::/48" },
    { text: "::ffff:192.0.2.0/120", is: "192.0.2.0/24" },
    { text: "::ffff:192.0.2.1", is: "192.0.2.1/32" },
    { text: "192.0.2.0/33", is: null },
    { text: "2001:db8::/129", is: null },
    { text: "192.0.2.0/", is: null },
    { text: "192.0.2.0/-1", is: null },
    { text: "192.0.2", is: null },
    { text: "0x7f.0.0.1/8", is: null },
    { text: "fe80::1%eth0", is: null },
    { text: "chat.example.org", is: null },
    { text: "", is: null },
  ];
  for (const { text, is } of cases) {
    it(`"${text}" is ${is ?? "none"}`, () => {
      const subnet = parseSubnet(text);
      assert.equal(subnet === null ? null : subnetText(subnet), is);
    });
  }
});

describe("a network that steering looks at", () => {
  const cut = (text: string): string => {
    const subnet = parseSubnet(text);
    assert.ok(subnet);
    return subnetText(truncated(subnet));
  };
  it("is no finer than a /24", () => assert.equal(cut("192.0.2.77/32"), "192.0.2.0/24"));
  it("is no finer than a /48", () => assert.equal(cut("2001:db8:1:2::1/128"), "2001:db8:1::/48"));
  it("stays as coarse as it was shown", () => assert.equal(cut("198.51.0.0/16"), "198.51.0.0/16"));
});

describe("an address that is not routed on the internet", () => {
  const cases = {
    "10.1.2.0/24": false,
    "172.16.0.0/24": false,
    "192.168.1.0/24": false,
    "127.0.0.0/24": false,
    "169.254.1.0/24": false,
    "100.64.0.0/24": false,
    "::1": false,
    "fe80::/48": false,
    "fd00::/48": false,
    "::ffff:10.0.0.0/120": false,
    "8.8.8.0/24": true,
    "2a00:1450:4001::/48": true,
  };
  for (const [text, expected] of Object.entries(cases)) {
    it(`${text}: ${expected ? "is routed" : "has no place"}`, () => {
      const subnet = parseSubnet(text);
      assert.equal(subnet === null ? null : isRouted(subnet), expected);
    });
  }
});
